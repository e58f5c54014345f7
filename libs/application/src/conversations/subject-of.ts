import { derivedId } from '@palimpsest/platform';
import type { System } from '../system/system';

/** The caller's own id of a person never stands in the clear, and two tenants' never meet. Left out: an anonymous one. */
export function subjectOf(
  { subjectSalt }: System,
  tenantId: string,
  conversationId: string,
  subjectId: string | undefined,
): string {
  return subjectId === undefined
    ? derivedId('anonymous', conversationId)
    : derivedId('subject', tenantId, subjectSalt, subjectId);
}
