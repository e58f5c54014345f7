import { type PipeTransform } from '@nestjs/common';
import { Problem } from './problem';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Node ids and tool call ids hang on a uuid. */
const hanging = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-[0-9a-z]{1,16}){0,4}$/;

type What = 'assistant' | 'conversation' | 'playbook' | 'turn' | 'node' | 'tool call';

/** An id in lower case. One of another form is an id that does not exist. */
export function existing(what: What, id: string): string {
  const form = what === 'node' || what === 'tool call' ? hanging : uuid;
  const lower = id.toLowerCase();
  if (!form.test(lower)) throw new Problem('not_found', `There is no ${what} with this id.`);
  return lower;
}

/** An assertion of the state: its conversation, and the revision at which it stands. */
export function existingAssertion(id: string): string {
  const lower = id.toLowerCase();
  const [conversationId = '', revision = '', more] = lower.split('@');
  if (!uuid.test(conversationId) || !/^\d{1,18}$/.test(revision) || more !== undefined)
    throw new Problem('not_found', 'There is no assertion with this id: it is a conversation’s id, @ and a revision.');
  return lower;
}

/** The head that the client saw. */
export function knownParent(id: string | undefined): string | undefined {
  if (id === undefined) return undefined;
  const lower = id.toLowerCase();
  if (!hanging.test(lower)) throw new Problem('unknown_parent', 'The parent is not a node of this conversation.');
  return lower;
}

/** A pipe for an id in the path. */
export const idOf = (what: What): PipeTransform<string, string> => ({ transform: (id) => existing(what, id) });
