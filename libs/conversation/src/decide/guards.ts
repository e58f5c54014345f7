import type { CommandKey } from '../events';
import { type Decision, refuse, type Refused } from '../refusal';
import type { ActiveConversation } from '../state';

/** The first guard of every client's command: a key that had its effect has it no second time. */
export function remembered(state: ActiveConversation, key: CommandKey | undefined): Decision | undefined {
  const known = key && state.keys.get(key.name);
  if (!known) return undefined;
  if (known.digest !== key.digest) return refuse({ code: 'idempotency_conflict' });
  const { revision, turnId, nodeId } = known;
  return {
    ok: true,
    events: [],
    facts: 0,
    known: {
      revision: BigInt(revision),
      ...(turnId !== undefined && { turnId }),
      ...(nodeId !== undefined && { nodeId }),
    },
  };
}

/** It happened before the last clear: its branch is over. */
export function beforeClear({ clearedAt, epoch }: ActiveConversation, revision: number): Refused | undefined {
  return revision < clearedAt ? refuse({ code: 'cleared', epoch }) : undefined;
}

/** A turn runs, waits or is queued. */
export function busy({ running, queue }: ActiveConversation): Refused | undefined {
  if (running) {
    const status = running.phase === 'waiting' ? 'waiting' : 'running';
    return refuse({ code: 'turn_running', turnId: running.turnId, status });
  }
  const first = queue[0];
  return first && refuse({ code: 'turn_running', turnId: first.turnId, status: 'queued' });
}
