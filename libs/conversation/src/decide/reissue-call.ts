import type { ReissueCall } from '../commands';
import { type Decision, refuse } from '../refusal';
import type { ActiveConversation } from '../state';
import { remembered } from './guards';

/**
 * A call outside the tree's paths (PROTOCOL section 8): nothing is asked with it, so no call that is open is closed for it, and neither a turn that
 * runs nor a clear since is in its way.
 */
export function reissueCall(state: ActiveConversation, command: ReissueCall): Decision {
  const { nodeId, carrier, of, renderedFor, key } = command;
  const known = remembered(state, key);
  if (known) return known;
  const node = state.nodes.get(of);
  if (!node) return refuse({ code: 'not_found', what: 'node' });
  if (node.kind === 'reissue' || (renderedFor && node.kind !== 'turn'))
    return refuse({ code: 'not_reissuable', kind: node.kind });
  if (node.status === 'pending') return refuse({ code: 'node_pending', nodeId: of });
  const data = { nodeId, kind: 'reissue', parent: of, carrier, ...(renderedFor && { renderedFor }) } as const;
  return { ok: true, events: [{ type: 'CallRequested', data, content: null, ...(key && { key }) }], facts: 1 };
}
