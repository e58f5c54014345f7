import { Backwards, Forwards, RequestRoutings } from '@palimpsest/audit';
import type { ConversationLog, ConversationTree, DialogueStates, TreeBelow } from '@palimpsest/read-models';
import type { LineageWork } from '../system/system';
import { ShownStatements } from './shown-statements';

export function lineageOf(
  log: ConversationLog,
  tree: ConversationTree,
  below: TreeBelow,
  states: DialogueStates,
): LineageWork {
  const routings = new RequestRoutings(log);
  const shown = new ShownStatements(log, states);
  return {
    tree: below,
    forwards: new Forwards(below, routings),
    backwards: new Backwards(routings, tree, (owner) => shown.by(owner)),
    shown,
  };
}
