import { isRecord, type JsonRecord, recordsOf, stringOf } from '../../json';
import { checkAnswerForm, demand, isPositiveInteger, TOOL_NAME } from './rules-common';

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'];

/** Throws `Refused` for what OpenAI's chat API refuses. */
export function checkOpenAi(body: JsonRecord): void {
  demand(stringOf(body['model']) !== '', 'you must provide a model parameter');
  for (const field of ['max_tokens', 'max_completion_tokens']) {
    demand(
      body[field] === undefined || isPositiveInteger(body[field]),
      `Invalid '${field}': expected a positive integer.`,
    );
  }
  const messages = body['messages'];
  demand(Array.isArray(messages), "Missing required parameter: 'messages'.");
  demand(messages.length > 0, "Invalid 'messages': empty array. Expected an array with minimum length 1.");
  checkTools(body['tools']);
  checkFormat(body['response_format']);
  const pairing = new Pairing();
  messages.forEach((message: unknown, index) => {
    demand(isRecord(message), `Invalid type for 'messages[${index}]': expected an object.`);
    checkMessage(message, index);
    pairing.next(message, index);
  });
  pairing.end();
}

function checkTools(tools: unknown): void {
  if (tools === undefined) return;
  demand(Array.isArray(tools) && tools.length > 0, "Invalid 'tools': expected an array with minimum length 1.");
  const names = new Set<string>();
  for (const tool of recordsOf(tools)) {
    if (tool['type'] !== 'function') continue;
    const fn = isRecord(tool['function']) ? tool['function'] : {};
    const name = stringOf(fn['name']);
    demand(TOOL_NAME.test(name), `Invalid 'tools[].function.name': '${name}' does not match the pattern.`);
    demand(!names.has(name), `Duplicate tool name '${name}'.`);
    demand(isRecord(fn['parameters']), `Invalid schema for function '${name}': expected an object.`);
    names.add(name);
  }
}

function checkFormat(format: unknown): void {
  if (!isRecord(format) || format['type'] !== 'json_schema') return;
  const form = isRecord(format['json_schema']) ? format['json_schema'] : {};
  demand(TOOL_NAME.test(stringOf(form['name'])), "Missing required parameter: 'response_format.json_schema.name'.");
  if (form['strict'] === true) checkAnswerForm(form['schema'], 'response_format');
}

function checkMessage(message: JsonRecord, index: number): void {
  const role = stringOf(message['role']);
  demand(ROLES.includes(role), `Invalid value: '${role}'. Supported values are: ${ROLES.join(', ')}.`);
  const { content } = message;
  const calls = message['tool_calls'];
  const isText = typeof content === 'string' || (Array.isArray(content) && content.length > 0);
  const mayBeNull = role === 'assistant' && Array.isArray(calls);
  demand(
    isText || (mayBeNull && (content === null || content === undefined)),
    `Invalid value for 'content' of messages[${index}]: expected a string, got null.`,
  );
  if (calls === undefined) return;
  demand(role === 'assistant', `'tool_calls' is not allowed in a message with role '${role}'.`);
  demand(Array.isArray(calls) && calls.length > 0, `Invalid 'messages[${index}].tool_calls': empty array.`);
  calls.forEach((call: unknown, place) => {
    const at = `messages[${index}].tool_calls[${place}]`;
    demand(isRecord(call) && isRecord(call['function']), `Invalid type for '${at}': expected an object.`);
    const id = stringOf(call['id']);
    demand(id !== '', `Missing required parameter: '${at}.id'.`);
    demand(id.length <= 40, `Invalid '${at}.id': string too long. Expected a string with maximum length 40.`);
    demand(call['type'] === 'function', `Invalid value for '${at}.type'.`);
    demand(TOOL_NAME.test(stringOf(call['function']['name'])), `Invalid '${at}.function.name'.`);
    demand(
      typeof call['function']['arguments'] === 'string',
      `Invalid type for '${at}.function.arguments': expected a string.`,
    );
  });
}

/** Every tool call is answered by the tool messages right after it, and every tool message answers one. */
class Pairing {
  private open = new Set<string>();
  private readonly seen = new Set<string>();

  next(message: JsonRecord, index: number): void {
    if (message['role'] === 'tool') {
      const answered = this.open.delete(stringOf(message['tool_call_id']));
      demand(
        answered,
        `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls' (messages[${index}]).`,
      );
      return;
    }
    this.end();
    for (const call of recordsOf(message['tool_calls'])) {
      const id = stringOf(call['id']);
      demand(!this.seen.has(id), `Duplicate tool call id '${id}' (messages[${index}]).`);
      this.seen.add(id);
      this.open.add(id);
    }
  }

  end(): void {
    demand(
      this.open.size === 0,
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
        `The following tool_call_ids did not have response messages: ${[...this.open].join(', ')}`,
    );
  }
}
