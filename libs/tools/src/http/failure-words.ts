import type { ToolResult } from '../port';

export const failed = (text: string): ToolResult => ({ text, isError: true });

export const isTimeout = (reason: unknown): boolean =>
  (reason as { name?: string } | undefined)?.name === 'TimeoutError';

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/** Whether nothing of a request left this host. */
export const neverSent = (error: unknown): boolean =>
  /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$|CERT|^DEPTH_ZERO|^UNABLE_TO/.test(codeOf(error));

/** Without the address that Node's own message names. */
export function wordsOf(error: unknown): string {
  if (/^(ENOTFOUND|EAI_AGAIN)$/.test(codeOf(error))) return "The tool's host name is not known.";
  if (/CERT|^DEPTH_ZERO|^UNABLE_TO/.test(codeOf(error))) return "The tool's certificate is not valid.";
  if (neverSent(error)) return 'The tool cannot be reached.';
  return 'The connection to the tool broke.';
}
