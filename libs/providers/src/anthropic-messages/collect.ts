import type { Usage } from '@palimpsest/conversation';
import { countOf, isRecord, type JsonRecord, stringOf } from '../json';
import type { WireAnswer } from '../port';
import { CutStream } from '../wire';
import { isCutShort } from './items';

/** Puts a message together from its events. Blocks, deltas and fields that it does not know are kept too. */
export class MessageCollector {
  private message: JsonRecord = {};
  private readonly blocks = new Map<number, JsonRecord>();
  private readonly open = new Set<number>();
  private stopped = false;
  private text = '';

  constructor(private readonly onText: (delta: string) => void) {}

  add(event: JsonRecord): void {
    const index = countOf(event['index']);
    switch (event['type']) {
      case 'message_start':
        this.message = isRecord(event['message']) ? event['message'] : {};
        break;
      case 'content_block_start':
        this.open.add(index);
        this.blocks.set(index, startedBlock(event['content_block']));
        break;
      case 'content_block_delta':
        this.addDelta(this.blocks.get(index), event['delta']);
        break;
      case 'content_block_stop':
        this.open.delete(index);
        finishBlock(this.blocks.get(index));
        break;
      case 'message_delta':
        this.addMessageDelta(event);
        break;
      case 'message_stop':
        this.stopped = true;
        break;
    }
  }

  partial(): string {
    return this.text;
  }

  assertWhole(): void {
    const leftOpen = this.open.size > 0 && !isCutShort(this.message);
    if (!this.stopped || leftOpen) throw new CutStream('The stream ended before the answer did.');
  }

  answer(): WireAnswer {
    const content = [...this.blocks.entries()]
      .sort(([a], [b]) => a - b)
      .map(([index, block]) => (this.open.has(index) ? { ...block, unfinished: true } : block));
    return {
      response: { ...this.message, format: 'anthropic.messages', content },
      usage: usageOf(this.message['usage']),
      stopReason: stringOf(this.message['stop_reason']),
    };
  }

  private addDelta(block: JsonRecord | undefined, delta: unknown): void {
    if (block === undefined || !isRecord(delta)) return;
    const text = delta['type'] === 'text_delta' ? stringOf(delta['text']) : '';
    if (text !== '') {
      this.text += text;
      this.onText(text);
    }
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'type') continue;
      else if (key === 'partial_json') block['input_json'] = stringOf(block['input_json']) + stringOf(value);
      else if (key === 'citation') block['citations'] = [...listOf(block['citations']), value];
      else if (typeof value === 'string') block[key] = stringOf(block[key]) + value;
      else block[key] = value;
    }
  }

  private addMessageDelta({ type: _type, delta, usage, ...others }: JsonRecord): void {
    Object.assign(this.message, others, isRecord(delta) ? delta : {});
    if (!isRecord(usage)) return;
    const before = isRecord(this.message['usage']) ? this.message['usage'] : {};
    const told = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined);
    this.message['usage'] = { ...before, ...Object.fromEntries(told) };
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A block with an input gets `input_json` for it: the raw text, put together from its parts. */
function startedBlock(block: unknown): JsonRecord {
  const fields = isRecord(block) ? { ...block } : {};
  return 'input' in fields ? { ...fields, input_json: '' } : fields;
}

/** Some servers send a call's input whole, with its start. */
function finishBlock(block: JsonRecord | undefined): void {
  if (block?.['input_json'] !== '' || !isRecord(block['input'])) return;
  if (Object.keys(block['input']).length > 0) block['input_json'] = JSON.stringify(block['input']);
}

function usageOf(value: unknown): Usage {
  const usage = isRecord(value) ? value : {};
  const cached = countOf(usage['cache_read_input_tokens']);
  const written = countOf(usage['cache_creation_input_tokens']);
  return {
    inputTokens: countOf(usage['input_tokens']) + cached + written,
    cachedInputTokens: cached,
    ...(written === 0 ? {} : { cacheWriteTokens: written }),
    outputTokens: countOf(usage['output_tokens']),
  };
}
