import { absent, type ConversationState, evolve, type RecordedEvent } from '@palimpsest/conversation';
import { metaOf, type StoredEvent } from '@palimpsest/event-store';
import { type AsOf, conversationStream, type ConversationRow, PastTree } from '@palimpsest/read-models';
import { answer, type Answer, refused } from '../refusal';
import type { System } from '../system/system';
import type { AsOfView } from '../views';

/** A conversation's tree as it was known then, with those that it grows from: each stream is told up to there. */
export async function pastTree(system: System, conversationId: string, when: AsOf): Promise<Answer<PastTreeAt>> {
  const { log, identities } = system;
  const tree = new PastTree();
  const told = await tell(system, conversationId, when, (event) => tree.put(event));
  if (!told.ok) return told;
  const there = elsewhere(when, told.value);
  for (const source of await identities.sourcesOf(conversationId))
    for await (const event of log.asOf(source.conversationId, there)) tree.put(event);
  const row = await tree.conversation(conversationId);
  if (!row) throw new Error(`${conversationStream(conversationId)} does not begin with its start.`);
  return answer({ tree, row, asOf: told.value });
}

export interface PastTreeAt {
  readonly tree: PastTree;
  readonly row: ConversationRow;
  readonly asOf: AsOfView;
}

/** What the rules knew of a conversation then. */
export async function pastState(
  system: System,
  conversationId: string,
  when: AsOf,
): Promise<Answer<{ readonly state: ConversationState; readonly asOf: AsOfView }>> {
  let state: ConversationState = absent;
  const told = await tell(system, conversationId, when, (event) => {
    state = evolve(state, system.codec.decode(event) as unknown as RecordedEvent);
  });
  return told.ok ? answer({ state, asOf: told.value }) : told;
}

async function tell(
  { log }: System,
  conversationId: string,
  when: AsOf,
  put: (event: StoredEvent) => void,
): Promise<Answer<AsOfView>> {
  let last: StoredEvent | undefined;
  for await (const event of log.asOf(conversationId, when)) put((last = event));
  if (!last)
    return refused('before_start', 'The conversation had not begun then. Ask for a later position or instant.');
  const { revision, position } = last;
  return answer({ revision, position, occurredAt: metaOf(last).occurredAt });
}

/** A revision is one of its own stream: in another one it stands for its place in the log, and one that is yet to come for the present. */
function elsewhere(when: AsOf, { revision, position }: AsOfView): AsOf {
  if (!('revision' in when)) return when;
  return revision < when.revision ? { instant: Infinity } : { position };
}
