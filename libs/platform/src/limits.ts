/** Named limits: [default, lowest, highest]. Each is also a variable, `maxBodyBytes` being PALIMPSEST_MAX_BODY_BYTES. */
const KiB = 1024;
const MiB = 1024 * KiB;
const second = 1000;
const minute = 60 * second;
const day = 24 * 60 * minute;

export const limits = {
  /** Bytes of one HTTP request body; beyond: 413. */
  maxBodyBytes: [4 * MiB, KiB, 64 * MiB],
  /** Bytes of one conversation in a file that `palimpsest import` reads; beyond, it is skipped. */
  maxImportEntryBytes: [64 * MiB, KiB, 256 * MiB],
  /** Bytes of one tool result; beyond: a tool result that says so. */
  maxToolResultBytes: [32 * MiB, KiB, 256 * MiB],
  /** Tokens, by estimate, of a page in which a folded result is read; an eighth of the model's input cap where that is less. */
  maxResultPageTokens: [8_000, 100, 1_000_000],
  /** Bytes of requests that one process has out at models at once; beyond, a call waits. */
  maxBytesInFlight: [256 * MiB, MiB, 64 * KiB * MiB],
  /** Bytes of conversations that one process keeps in memory between turns; beyond, they are read again. */
  maxHeldPathBytes: [256 * MiB, MiB, 64 * KiB * MiB],
  /** Turns that run at once in one process; beyond: 429 too_many_turns. */
  maxRunningTurns: [64, 1, 10_000],
  /** The same for one tenant. */
  maxRunningTurnsPerTenant: [32, 1, 10_000],
  /** Model calls in one turn. */
  maxRoundsPerTurn: [32, 1, 1_000],
  /** Drafts of one playbook transform; a request may ask for fewer. */
  maxTransformAttempts: [3, 1, 20],
  /** Tries of one model call on the wire, the first included. */
  maxCallAttempts: [4, 1, 20],
  /** The pause before the second try where the provider gave no hint; doubled with each. */
  callRetryMs: [second, 1, minute],
  /** A pause that is longer, or a hint of a provider that is, is not waited for: the call fails. */
  maxCallRetryMs: [minute, 1, 60 * minute],
  /** Bytes of one request to a model; beyond: the turn fails with request_too_large. */
  maxRequestBytes: [64 * MiB, KiB, 512 * MiB],
  /** One try of a model call, from the request to the last byte. */
  callTimeoutMs: [5 * minute, 100, 60 * minute],
  /** Silence on an open stream of a model after which it counts as dead. */
  callIdleTimeoutMs: [minute, 100, 60 * minute],
  /** How long a tool call waits for a person. */
  approvalTimeoutMs: [day, second, 30 * day],
  /** How long a question waits for a summary or a compaction before it, where its assistant has one made by itself. */
  compactionWaitMs: [30 * second, 0, 10 * minute],
  /** How long a question waits until what the turns before it say is known, where its assistant has it wait. */
  extractionMs: [2 * second, 0, 10 * minute],
  /** How often a process renews the leases of the turns that it carries. */
  leaseRenewMs: [3 * second, 20, minute],
  /** How long a lease lives without being renewed. */
  leaseMs: [12 * second, 100, 10 * minute],
  /** How often a process looks for turns whose carrier died. */
  sweepMs: [4 * second, 20, 10 * minute],
  /** Takeovers with no answer or result between them, after which a turn is given up. */
  maxTakeovers: [3, 1, 100],
  /** How long a query waits for the revision that it was asked for; beyond: 503 behind. */
  maxWaitMs: [5 * second, 10, minute],
  /** Requests that one page of a lineage looks at, about; it may then hold less than was asked for, and the next one goes on. */
  maxLineageRequests: [1_000, 1, 100_000],
  /** Requests that one page of a back-test assembles again, about: it ends with the conversation in which it has so many. */
  maxBacktestRequests: [200, 1, 100_000],
  /** From one signed anchor to the next; none where nothing has moved. */
  anchorIntervalMs: [minute, 100, day],
  /** What running turns get on SIGTERM. */
  shutdownGraceMs: [30 * second, 0, 10 * minute],
  /** How long one try of an append, or a read, waits for a log that says nothing; then it is tried again. */
  logTryTimeoutMs: [5 * second, 100, minute],
  /** How long an append without an answer is tried before its outcome counts as unknown: 503 outcome_unknown. */
  logAppendTimeoutMs: [15 * second, 200, 10 * minute],
  /** Connections to Postgres of one process. */
  maxDatabaseConnections: [20, 4, 500],
} as const satisfies Record<string, readonly [standard: number, lowest: number, highest: number]>;

export type Limits = { readonly [name in keyof typeof limits]: number };

/** `maxBodyBytes` -> `PALIMPSEST_MAX_BODY_BYTES` */
export function limitVariable(name: keyof Limits): string {
  return `PALIMPSEST_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
