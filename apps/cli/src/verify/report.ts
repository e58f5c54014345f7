import type { Anchored, Fault, VerifyReport } from '@palimpsest/audit';
import { counted } from '../counted';

/** Revisions and positions are decimal strings in JSON. */
export const toJson = (report: VerifyReport): string =>
  JSON.stringify(report, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

/** One fault, one line. */
export function faultLine({ kind, stream, revision, through, position, id, type, detail }: Fault): string {
  const where = [
    ...(stream === null ? [] : [stream]),
    ...(revision === null ? [] : [`revision ${revision}${through === null ? '' : ` to ${through}`}`]),
    ...(position === null ? [] : [`position ${position}`]),
    ...(type === null ? [] : [type]),
    ...(id === null ? [] : [id]),
  ];
  return `${kind.toUpperCase().replaceAll('_', ' ')}  ${where.join('  ')}\n    ${detail}`;
}

export function summary(report: VerifyReport, checksContent: boolean): string {
  const { ok, faultCount, events, after, to, opened, sealed, keyLost, payloads, requests } = report;
  const range = after < 0n ? `up to position ${to}` : `after position ${after} up to ${to}`;
  const lines = [
    ok
      ? `${keyLost > 0 ? 'Sound as far as it can be read' : 'Sound'}: ${counted(events, 'event')} ${range}.`
      : `${counted(faultCount, 'fault')} in ${counted(events, 'event')} ${range}.`,
    checksContent
      ? `Opened ${opened}; ${sealed} erased; ${counted(payloads, 'payload')}; ${counted(requests, 'request')} with the digest that was recorded.`
      : `No key is at hand: chains, anchors and ${counted(payloads, 'payload')} were checked, and no content.`,
    ...(keyLost > 0 ? [`The keys of ${counted(keyLost, 'content')} are lost: restore them from their backup.`] : []),
    anchoredLine('Anchors in the log', report.anchored),
    ...(report.outside ? [anchoredLine('Anchors kept outside', report.outside)] : []),
  ];
  return lines.join('\n');
}

function anchoredLine(what: string, { anchors, to, younger, keys }: Anchored): string {
  if (anchors === 0) return `${what}: none. Nothing is anchored yet: ${counted(younger, 'event')}.`;
  const signers = keys.map(({ id }) => id).join(', ');
  return `${what}: ${anchors}, up to position ${to}, signed by ${signers}. Not anchored yet: ${counted(younger, 'event')}.`;
}
