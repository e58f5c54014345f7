export interface Check {
  readonly ok: boolean;
  readonly detail?: string;
}

/** A check that takes longer has failed. Milliseconds. */
const PATIENCE_MS = 2_000;

/** Whether a part that a process needs answers. What went wrong is not told: the answer is open to everybody. */
export async function answers(ask: () => Promise<unknown>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Check>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, detail: `no answer within ${PATIENCE_MS} ms` }), PATIENCE_MS);
  });
  try {
    return await Promise.race([ask().then(() => ({ ok: true })), late]);
  } catch {
    return { ok: false, detail: 'cannot be reached' };
  } finally {
    clearTimeout(timer);
  }
}
