import fc from 'fast-check';
import type { Source } from './items';
import {
  MILESTONE_EVERY,
  type Milestone,
  NO_MILESTONE,
  type PlacedSegment,
  planManifest,
  resolveManifest,
  restoreSegment,
  SHORTEST_REFERENCE,
  storeSegment,
  type StoredRequest,
} from './manifest';
import { type Piece, type RenderedRequest, type Segment, wireBytes } from './segment';

/** A message of the wire, its text said in an event of its own. */
interface Said {
  readonly revision: number;
  readonly text: string;
  readonly nodeId: string;
}

const frame = (text: string, nodeId: string | null): Piece => ({ kind: 'frame', text, nodeId });

function message({ revision, text, nodeId }: Said): Segment {
  const source: Source = { revision, pointer: '/text' };
  return [frame(',{"content":"', nodeId), { kind: 'turn', text, nodeId, source, escape: 'json' }, frame('"}', nodeId)];
}

function render(prompt: string, path: readonly Said[]): RenderedRequest {
  const head = [
    frame('{"system":"', null),
    { kind: 'system', text: prompt, nodeId: null, escape: 'json' },
    frame('","messages":[', null),
  ] as const;
  return { head, messages: path.map(message), tail: [frame(']}', null)], path: '/', headers: {}, unpaired: 0 };
}

const bytesOf = ({ head, messages, tail }: RenderedRequest): string =>
  Buffer.concat([head, ...messages, tail].map(wireBytes)).toString('hex');

/** A conversation in which each node says one thing under a node that was there before, as the log keeps it. */
class Conversation {
  readonly requests = new Map<string, StoredRequest>();
  readonly sent = new Map<string, string>();
  readonly paths = new Map<string, readonly Said[]>([['', []]]);
  private readonly texts = new Map<number, string>();

  ask(nodeId: string, parent: string, text: string, prompt: string): void {
    const said = { nodeId, text, revision: this.texts.size };
    this.texts.set(said.revision, text);
    const path = [...(this.paths.get(parent) ?? []), said];
    const request = render(prompt, path);
    const base = parent === '' ? null : { nodeId: parent, placed: this.placed(parent) };
    const plan = planManifest(nodeId, request, base, this.milestoneBefore(path));
    const segments = plan.fresh.map((segment) => storeSegment(nodeId, segment));
    const stored = { manifest: plan.manifest, segments, sha256: '', url: '', path: '', headers: {}, sdk: '' };
    this.requests.set(nodeId, JSON.parse(JSON.stringify(stored)) as StoredRequest);
    this.sent.set(nodeId, bytesOf(request));
    this.paths.set(nodeId, path);
  }

  /** From what is stored alone. */
  replay(nodeId: string): string {
    return Buffer.concat(this.placed(nodeId).map(({ segment }) => wireBytes(segment))).toString('hex');
  }

  private milestoneBefore(path: readonly Said[]): Milestone | undefined {
    if (path.length % MILESTONE_EVERY !== 0) return undefined;
    const before = path[path.length - MILESTONE_EVERY - 1];
    return before ? { nodeId: before.nodeId, places: this.placed(before.nodeId) } : NO_MILESTONE;
  }

  private placed(nodeId: string): readonly PlacedSegment[] {
    const found = resolveManifest(nodeId, (id) => this.requests.get(id)?.manifest);
    if ('missing' in found) throw new Error(`${found.missing} is missing`);
    return found.places.map(({ owner, index }) => {
      const pieces = this.requests.get(owner)?.segments[index] ?? [];
      return { owner, index, segment: restoreSegment(owner, pieces, ({ revision }) => this.texts.get(revision) ?? '') };
    });
  }
}

const long = 'x'.repeat(SHORTEST_REFERENCE);

describe('a manifest', () => {
  it('gives back the bytes that were sent, for every node of any tree', () => {
    const step = fc.record({
      parent: fc.nat(),
      text: fc.string({ unit: 'binary', maxLength: 200 }),
      changesPrompt: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const conversation = new Conversation();
        let prompts = 0;
        steps.forEach(({ parent, text, changesPrompt }, n) => {
          if (changesPrompt) prompts += 1;
          const under = n === 0 ? '' : `n${parent % n}`;
          conversation.ask(`n${n}`, under, text, `prompt ${prompts}`);
        });
        for (const [nodeId, sent] of conversation.sent) expect(conversation.replay(nodeId)).toBe(sent);
      }),
    );
  });

  it('P06: stores what is new, and not the history again', () => {
    const conversation = new Conversation();
    for (let n = 0; n < 300; n += 1) conversation.ask(`n${n}`, n ? `n${n - 1}` : '', `${n} ${long}`, 'prompt');
    const sizes = [...conversation.requests.values()].map((request) => JSON.stringify(request).length);
    const isMilestone = (n: number): boolean => (n + 1) % MILESTONE_EVERY === 0;
    for (const kind of [true, false]) {
      const alike = sizes.filter((_, n) => n > MILESTONE_EVERY && isMilestone(n) === kind);
      expect(Math.max(...alike) - Math.min(...alike)).toBeLessThan(100);
    }
  });

  it('follows the nodes to the last milestone, and then the milestones, and no longer chain', () => {
    const conversation = new Conversation();
    const count = 5 * MILESTONE_EVERY - 1;
    for (let n = 0; n < count; n += 1) conversation.ask(`n${n}`, n ? `n${n - 1}` : '', long, 'prompt');
    const chain: string[] = [];
    for (let id: string | undefined = `n${count - 1}`; id !== undefined;) {
      chain.push(id);
      id = conversation.requests.get(id)?.manifest.flatMap((part) => ('copy' in part ? [part.copy] : []))[0];
    }
    expect(chain).toHaveLength(MILESTONE_EVERY + 3);
    expect(conversation.replay(`n${count - 1}`)).toBe(conversation.sent.get(`n${count - 1}`));
  });

  it('names the node that is missing', () => {
    const conversation = new Conversation();
    conversation.ask('n0', '', long, 'prompt');
    conversation.ask('n1', 'n0', long, 'prompt');
    conversation.requests.delete('n0');
    expect(resolveManifest('n1', (id) => conversation.requests.get(id)?.manifest)).toEqual({ missing: 'n0' });
  });

  it('refers to a long text that an event holds, and writes a short one again', () => {
    const store = (text: string) => JSON.stringify(storeSegment('n0', message({ revision: 7, text, nodeId: 'n0' })));
    expect(store(long)).not.toContain(long);
    expect(store('short')).toContain('short');
  });
});
