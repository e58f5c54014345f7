import { isRecord, type JsonRecord, recordsOf, stringOf } from '../../json';
import { compactionTrigger } from './compaction-trigger';
import { checkAnswerForm, demand, isPositiveInteger, signThinking, TOOL_NAME } from './rules-common';

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text', 'citations', 'cache_control'],
  thinking: ['type', 'thinking', 'signature'],
  redacted_thinking: ['type', 'data'],
  tool_use: ['type', 'id', 'name', 'input', 'caller', 'toolset_name', 'cache_control'],
  tool_result: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'],
  compaction: ['type', 'content', 'encrypted_content', 'signature', 'tool_changes', 'cache_control'],
  server_tool_use: ['type', 'id', 'name', 'input', 'caller', 'cache_control'],
};
const USER_BLOCKS = ['text', 'tool_result', 'image', 'document'];

const COMPACTION_BETA = 'compact-2026-01-12';
const LEAST_TRIGGER = 50_000;

/** Throws `Refused` for what Anthropic's Messages API refuses. `betas`: the header of that name. */
export function checkAnthropic(body: JsonRecord, betas = ''): void {
  demand(stringOf(body['model']) !== '', 'model: Field required');
  demand(body['max_tokens'] !== undefined, 'max_tokens: Field required');
  demand(isPositiveInteger(body['max_tokens']), 'max_tokens: Input should be greater than or equal to 1');
  checkSystem(body['system']);
  checkTools(body['tools']);
  checkOutput(body['output_config']);
  const messages = body['messages'];
  demand(Array.isArray(messages), 'messages: Field required');
  demand(messages.length > 0, 'messages: at least one message is required');
  messages.forEach((message: unknown, index) => {
    demand(isRecord(message), `messages.${index}: Input should be an object`);
    checkMessage(message, index, index === messages.length - 1);
  });
  const records = recordsOf(messages);
  const opensCompacted = recordsOf(records[0]?.['content'])[0]?.['type'] === 'compaction';
  demand(records[0]?.['role'] === 'user' || opensCompacted, 'messages: first message must use the "user" role');
  checkCompaction(body, records, betas.split(/\s*,\s*/).includes(COMPACTION_BETA));
  checkPairs(records);
  checkMarks(body);
}

function checkCompaction(body: JsonRecord, messages: readonly JsonRecord[], isBeta: boolean): void {
  const edits = body['context_management'];
  demand(isBeta || edits === undefined, 'context_management: Extra inputs are not permitted');
  messages.forEach((message, index) => {
    recordsOf(message['content']).forEach((block, place) => {
      if (block['type'] !== 'compaction') return;
      const at = `messages.${index}.content.${place}`;
      demand(isBeta, `${at}: Input tag 'compaction' found using 'type' does not match any of the expected tags`);
      demand(block['content'] !== '', `${at}.compaction.content: must not be empty`);
    });
  });
  recordsOf(isRecord(edits) ? edits['edits'] : undefined).forEach((edit, index) => {
    const at = `context_management.edits.${index}`;
    demand(edit['type'] === 'compact_20260112', `${at}: Input tag found using 'type' is not known`);
    demand(
      compactionTrigger(edit) >= LEAST_TRIGGER,
      `${at}.trigger.value: Input should be greater than or equal to ${LEAST_TRIGGER}`,
    );
  });
}

function checkSystem(system: unknown): void {
  if (system === undefined || typeof system === 'string') return;
  demand(Array.isArray(system), 'system: Input should be a valid string or list');
  recordsOf(system).forEach((block, index) => {
    demand(
      stringOf(block['text']).trim() !== '',
      `system.${index}: text content blocks must contain non-whitespace text`,
    );
  });
}

function checkTools(tools: unknown): void {
  const names = new Set<string>();
  recordsOf(tools).forEach((tool, index) => {
    const name = stringOf(tool['name']);
    demand(TOOL_NAME.test(name), `tools.${index}.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`);
    demand(!names.has(name), 'tools: Tool names must be unique.');
    names.add(name);
    if (tool['type'] !== undefined && tool['type'] !== 'custom') return;
    const schema = tool['input_schema'];
    demand(isRecord(schema) && schema['type'] === 'object', `tools.${index}.input_schema.type: Field required`);
  });
}

function checkOutput(config: unknown): void {
  const format = isRecord(config) ? config['format'] : undefined;
  if (isRecord(format) && format['type'] === 'json_schema') checkAnswerForm(format['schema'], 'output_config.format');
}

function checkMessage(message: JsonRecord, index: number, last: boolean): void {
  const role = message['role'];
  const content = message['content'];
  demand(role === 'user' || role === 'assistant', `messages.${index}.role: Input should be 'user' or 'assistant'`);
  if (typeof content === 'string') {
    demand(content.trim() !== '', `messages.${index}: text content blocks must contain non-whitespace text`);
  } else {
    demand(Array.isArray(content) && content.length > 0, `messages.${index}: all messages must have non-empty content`);
    content.forEach((block: unknown, place) => {
      demand(isRecord(block), `messages.${index}.content.${place}: Input should be an object`);
      checkBlock(block, `messages.${index}.content.${place}`, role);
    });
  }
  const text = typeof content === 'string' ? content : stringOf(recordsOf(content).at(-1)?.['text']);
  demand(
    !(last && role === 'assistant' && /\s$/.test(text)),
    `messages: final assistant content cannot end with trailing whitespace`,
  );
}

function checkBlock(block: JsonRecord, at: string, role: 'user' | 'assistant'): void {
  const type = stringOf(block['type']);
  demand(type !== '', `${at}.type: Field required`);
  if (role === 'user')
    demand(USER_BLOCKS.includes(type), `${at}: \`${type}\` blocks are not permitted in user messages`);
  else demand(type !== 'tool_result', `${at}: \`tool_result\` blocks can only be in \`user\` messages`);
  const fields = FIELDS[type] ?? Object.keys(block).filter((key) => key !== 'input_json');
  const extra = Object.keys(block).find((key) => !fields.includes(key));
  demand(extra === undefined, `${at}.${type}.${extra}: Extra inputs are not permitted`);
  if (type === 'text') {
    demand(stringOf(block['text']).trim() !== '', `${at}: text content blocks must contain non-whitespace text`);
  } else if (type === 'thinking') {
    const signed = block['signature'] === signThinking(stringOf(block['thinking']));
    demand(signed, `${at}: Invalid \`signature\` in \`thinking\` block`);
  } else if (type === 'tool_use' || type === 'server_tool_use') {
    demand(
      /^[a-zA-Z0-9_-]+$/.test(stringOf(block['id'])),
      `${at}.${type}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`,
    );
    demand(TOOL_NAME.test(stringOf(block['name'])), `${at}.${type}.name: String should match pattern`);
    demand(isRecord(block['input']), `${at}.${type}.input: Input should be a valid dictionary`);
  } else if (type === 'tool_result') {
    checkResultContent(block['content'], at);
  }
}

function checkResultContent(content: unknown, at: string): void {
  if (content === undefined || typeof content === 'string') return;
  demand(Array.isArray(content), `${at}.tool_result.content: Input should be a valid string or list`);
  for (const block of recordsOf(content)) {
    demand(block['type'] !== 'text' || stringOf(block['text']) !== '', `${at}: text content blocks must be non-empty`);
  }
}

/** Every `tool_use` has its `tool_result` at the start of the very next message, once; the provider's own tools in the same message. */
function checkPairs(messages: readonly JsonRecord[]): void {
  const seen = new Set<string>();
  let open = new Set<string>();
  messages.forEach((message, index) => {
    const blocks = recordsOf(message['content']);
    const results = blocks.filter((block) => block['type'] === 'tool_result');
    for (const result of results) {
      const id = stringOf(result['tool_use_id']);
      demand(
        open.delete(id),
        `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    demandNoneOpen(open, index - 1);
    demand(
      blocks.slice(0, results.length).every((block) => block['type'] === 'tool_result'),
      `messages.${index}: \`tool_result\` blocks must come before other content`,
    );
    open = new Set();
    for (const block of blocks) {
      if (block['type'] !== 'tool_use') continue;
      const id = stringOf(block['id']);
      demand(!seen.has(id), `messages.${index}: \`tool_use\` ids must be unique`);
      seen.add(id);
      open.add(id);
    }
    // Messages of one role side by side are one.
    if (message['role'] === 'assistant' && messages[index - 1]?.['role'] !== 'assistant') {
      const after = messages.findIndex((other, at) => at > index && other['role'] !== 'assistant');
      const joined = messages.slice(index, after < 0 ? undefined : after);
      if (after >= 0)
        checkServerTools(
          joined.flatMap((one) => recordsOf(one['content'])),
          index,
        );
    }
  });
  demandNoneOpen(open, messages.length - 1);
}

function demandNoneOpen(open: ReadonlySet<string>, index: number): void {
  demand(
    open.size === 0,
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${[...open].join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

function checkServerTools(blocks: readonly JsonRecord[], index: number): void {
  for (const block of blocks) {
    if (block['type'] !== 'server_tool_use') continue;
    demand(
      blocks.some((other) => other['tool_use_id'] === block['id']),
      `messages.${index}: \`${stringOf(block['name'])}\` tool use with id \`${stringOf(block['id'])}\` was found without a corresponding \`${stringOf(block['name'])}_tool_result\` block`,
    );
  }
  for (const block of blocks) {
    const type = stringOf(block['type']);
    if (type === 'tool_result' || !type.endsWith('_tool_result')) continue;
    demand(
      blocks.some((other) => other['type'] === 'server_tool_use' && other['id'] === block['tool_use_id']),
      `messages.${index}: unexpected \`tool_use_id\` found in \`${type}\` blocks`,
    );
  }
}

function checkMarks(body: JsonRecord): void {
  let marks = 0;
  const count = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(count);
    else if (isRecord(value)) {
      if (isRecord(value['cache_control'])) marks += 1;
      Object.values(value).forEach(count);
    }
  };
  count(body);
  demand(marks <= 4, `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
}
