import type { ActiveConversation, DeletedConversation } from '@palimpsest/conversation';
import type { Verdict } from './judge';

/** The product's fold must see in every log what the judge's own sees. Throws an error, not a violation: one of the two is wrong. */
export function agree(verdict: Verdict, state: ActiveConversation | DeletedConversation): void {
  const same = (what: string, judged: unknown, folded: unknown) => {
    const [a, b] = [JSON.stringify(judged ?? null), JSON.stringify(folded ?? null)];
    if (a !== b) throw new Error(`The judge and the product differ on ${what}: ${a} and ${b}.`);
  };
  if (state.status === 'deleted') return same('its life', verdict.life === 'active', false);
  same('its life', verdict.life, 'active');
  const { running } = state;
  same('the head', verdict.head, state.head);
  same('the epoch', verdict.epoch, state.epoch);
  same('what grows from it', verdict.dependents, state.dependents);
  same('the turn', verdict.turn?.id, running?.turnId);
  same('its carrier', verdict.turn?.carrier, running?.phase === 'carried' ? running.carrier : null);
  same('its node', verdict.turn?.node, running?.node);
  same('the queue', verdict.queue, state.queue.map(({ turnId }) => turnId)); // prettier-ignore
  same('the number of turns', Object.keys(verdict.turns).length, state.turns.size);
  for (const [id, status] of Object.entries(verdict.turns)) same(id, status, state.turns.get(id)?.status);
  for (const [id, parent] of Object.entries(verdict.parents)) same(id, parent, state.turns.get(id)?.start?.parent);
  for (const [id, { parent, status, calls }] of Object.entries(verdict.nodes)) {
    const node = state.nodes.get(id);
    same(id, { parent, status, calls }, { parent: node?.parent, status: node?.status, calls: node?.toolCallIds });
  }
  for (const [id, { status, runs, result }] of Object.entries(verdict.calls)) {
    const call = state.toolCalls.get(id);
    const folded = !call?.result ? null : call.result === 'real' ? 'real' : 'synthetic';
    same(id, { status, runs, result }, { status: call?.status, runs: call?.runs, result: folded });
  }
  const open = Object.keys(verdict.calls).filter((id) => !verdict.calls[id]?.result);
  same('the open calls', open.sort(), [...state.openCalls].sort());
  for (const [name, digest] of Object.entries(verdict.keys)) same(name, digest, state.keys.get(name)?.digest);
}
