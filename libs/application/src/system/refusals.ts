import type { Refusal } from '@palimpsest/conversation';
import type { RevisionConflict } from '@palimpsest/event-store';
import { refused } from '../refusal';

type Refused = ReturnType<typeof refused>;

/** What a refusal of the rules means to whoever asked: what happened, why, and what to do next. */
export function refusalOf(refusal: Refusal | RevisionConflict): Refused {
  switch (refusal.code) {
    case 'turn_running':
      return refused('turn_running', busy[refusal.status], { turnId: refusal.turnId });
    case 'not_found':
      return refused('not_found', `There is no such ${refusal.what.replace('_', ' ')} in this conversation.`);
    case 'unknown_parent':
      return refused(
        'unknown_parent',
        'The parent is no node of this conversation. Read the tree, and name the head that you see.',
        { parent: refusal.parent },
      );
    case 'revision_conflict':
      return 'head' in refusal
        ? refused(
            'revision_conflict',
            'The parent is not the head. To go on from there, switch to it first; to ask anew, edit.',
            { parent: refusal.parent, head: refusal.head },
          )
        : refused(
            'revision_conflict',
            'Others wrote to this conversation at the same time. Read it again, and try again.',
            {
              expected: String(refusal.expected),
              actual: String(refusal.actual),
            },
          );
    case 'idempotency_conflict':
      return refused(
        'idempotency_conflict',
        'This Idempotency-Key was used with another body. Use a new key for a new request.',
      );
    case 'before_compaction':
      return refused('before_compaction', 'The question stands before a compaction and cannot be edited any more.', {
        compaction: refusal.compaction,
      });
    case 'cleared':
      return refused(
        'cleared',
        'The conversation was cleared since. What was before is kept for the audit, and nothing grows from it.',
        { epoch: refusal.epoch },
      );
    case 'has_dependents':
      return refused(
        'has_dependents',
        'Other conversations grow from this one and would lose what they stand on. Delete them first, or all together with cascade=true.',
        { conversationIds: refusal.conversationIds },
      );
    case 'deleted':
      return conversationDeleted();
    case 'not_switchable':
      return refused(
        'not_switchable',
        `The head cannot stand on this ${refusal.kind} node: no node of its branch ever was the head.`,
      );
    case 'node_pending':
      return refused('node_pending', 'The call of this node has not ended. Ask again when it has its answer.');
    case 'not_reissuable':
      return refused(
        'not_reissuable',
        refusal.kind === 'reissue'
          ? 'This node sent the request of another one again. Name that one: it is its parent.'
          : `This is a ${refusal.kind} node. Its bytes can be sent again, and only a turn’s request is made for another model.`,
        { kind: refusal.kind },
      );
    case 'already_decided':
      return refused(
        'already_decided',
        alreadyDecided[refusal.decision ?? 'none'],
        refusal.decision ? { decision: refusal.decision } : {},
      );
    case 'approval_mismatch':
      return refused(
        'approval_mismatch',
        'The digest is not that of the arguments that wait. Look at them again before you decide.',
        { argumentsDigest: refusal.argumentsDigest },
      );
    case 'nothing_to_compact':
      return refused('nothing_to_compact', 'Nothing was said since the last compaction, or at all.');
    case 'no_context':
      return refused('no_context', 'Nothing was said in this conversation yet: there is nothing to work on.');
    case 'importing':
      return refused(
        'importing',
        'The import of this conversation has not ended. Send the same document again: it goes on where it broke off.',
      );
    case 'not_carrier':
    case 'node_ended':
    case 'carried':
    case 'not_running':
    case 'nothing_queued':
      throw new Error(`${refusal.code} is a refusal among processes, and no client's command gets it.`);
  }
}

/** To every question about a conversation that was deleted. */
export const conversationDeleted = (): Refused =>
  refused('sealed', 'This conversation was deleted, and its key with it: nothing of it can be read again.');

const busy = {
  running: 'A turn runs in this conversation. Wait until it has ended, or cancel it.',
  waiting: 'A turn of this conversation waits for an approval. Decide it, or cancel the turn.',
  queued: 'A question waits in this conversation. Wait until it was answered, or cancel it.',
} as const;

const alreadyDecided = {
  approve: 'This tool call was approved before.',
  reject: 'This tool call was rejected before.',
  expired: 'Nobody decided on this tool call in time: its approval has expired, and it does not run.',
  cancelled: 'The turn of this tool call was cancelled while it waited: it does not run.',
  none: 'This tool call does not await a decision.',
} as const;
