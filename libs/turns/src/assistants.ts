import type { AssistantDefinition, AssistantVersionCreated } from '@palimpsest/assistant';
import type { SourcedText } from '@palimpsest/context';
import type { EventCodec, EventStore } from '@palimpsest/event-store';
import { LRUCache } from 'lru-cache';

/** One version of an assistant, and where its system prompt stands in the log. */
export interface AssistantVersion {
  readonly tenantId: string;
  readonly definition: AssistantDefinition;
  readonly systemPrompt: SourcedText;
}

export const assistantStream = (assistantId: string): string => `assistant-${assistantId}`;

/** Assistants by id and version, from the log. A version never changes, so it is remembered. */
export class Assistants {
  private readonly known = new LRUCache<string, AssistantVersion>({ max: 1000 });

  constructor(
    private readonly store: EventStore,
    private readonly codec: EventCodec,
  ) {}

  /** Undefined where there is no such version. */
  async find(assistantId: string, version: number): Promise<AssistantVersion | undefined> {
    const key = `${assistantId} ${version}`;
    const known = this.known.get(key);
    if (known) return known;
    if (!Number.isSafeInteger(version) || version < 1) return undefined;
    const found = await this.read(assistantId, { from: BigInt(version - 1), limit: 1 });
    if (found) this.known.set(key, found);
    return found;
  }

  /** Undefined where there is no such assistant. */
  async newest(assistantId: string): Promise<AssistantVersion | undefined> {
    return this.read(assistantId, { direction: 'backwards', limit: 1 });
  }

  private async read(
    assistantId: string,
    options: { from?: bigint; limit: number; direction?: 'backwards' },
  ): Promise<AssistantVersion | undefined> {
    const stream = assistantStream(assistantId);
    for await (const event of this.store.readStream(stream, options)) {
      const decoded = this.codec.decode<AssistantVersionCreated>(event);
      const { definition } = await decoded.open();
      const source = {
        stream,
        eventId: decoded.id,
        revision: Number(decoded.revision),
        pointer: '/definition/systemPrompt',
      };
      return {
        tenantId: decoded.meta.tenantId,
        definition: { assistantId, version: decoded.data.version, ...definition },
        systemPrompt: { text: definition.systemPrompt, source },
      };
    }
    return undefined;
  }
}
