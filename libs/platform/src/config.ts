import { resolve } from 'node:path';
import { z } from 'zod';
import { limits, limitVariable, type Limits } from './limits';

/** How this process was configured. Read once, at the start, from the environment; nothing else reads the environment. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** False: the port is only the usual one, and a free one will do where it is taken. */
  readonly portGiven: boolean;
  /** Absolute path. */
  readonly dataDir: string;
  /** An existing Postgres, instead of the embedded one. */
  readonly databaseUrl: string | undefined;
  /** An EventStoreDB or KurrentDB for the log, instead of Postgres. */
  readonly eventStoreUrl: string | undefined;
  /** The part of that log which is this installation's, where it is not alone there. */
  readonly eventStoreNamespace: string | undefined;
  /** The database that the SQL tool reads, instead of the sample one. */
  readonly sqlDatabaseUrl: string | undefined;
  readonly masterKeyFile: string | undefined;
  /** The key that signs anchors, instead of the one in the data directory. */
  readonly signingKeyFile: string | undefined;
  /** Where anchors are kept outside the log: a file of JSON lines, and an address that takes a POST for each. */
  readonly anchorFile: string | undefined;
  readonly anchorUrl: string | undefined;
  /** The operator's tools: a JSON file. */
  readonly toolsFile: string | undefined;
  /** The folder of the operator's own projections; it need not be there. Absolute path. */
  readonly projectionsDir: string;
  /** What the operator says of models: a JSON file. */
  readonly modelsFile: string | undefined;
  /** Whether an api process writes the read models too, or leaves them to projectors. */
  readonly projects: boolean;
  /** Where other processes of this installation reach this one; by default where it is bound. */
  readonly internalUrl: string | undefined;
  readonly logLevel: LogLevel;
  readonly openai: ProviderAccess;
  readonly anthropic: ProviderAccess;
  readonly limits: Limits;
}

export interface ProviderAccess {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** What is wrong with the configuration, one sentence a line. Never holds a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly sentences: readonly string[]) {
    super(sentences.join('\n'));
  }
}

const text = (allowed: string) => z.string().regex(/^\S+$/, allowed).optional();
const url = (allowed: string, ...schemes: string[]) =>
  z
    .string()
    .refine((value) => URL.canParse(value) && schemes.includes(new URL(value).protocol), allowed)
    .optional();
const whole = (standard: number, lowest: number, highest: number) => {
  const allowed = `a whole number from ${lowest} to ${highest}`;
  const fits = (value: string) => /^\d{1,15}$/.test(value) && Number(value) >= lowest && Number(value) <= highest;
  return z.string().refine(fits, allowed).transform(Number).default(standard);
};
const postgresUrl = 'a URL like postgres://user:password@host:5432/database';
const httpUrl = 'a URL that begins with http:// or https://';

const variables = {
  PALIMPSEST_HOST: z
    .string()
    .regex(/^[\w.:-]+$/, 'a host name or an IP address')
    .default('127.0.0.1'),
  PALIMPSEST_PORT: whole(3000, 0, 65535),
  PALIMPSEST_DATA_DIR: z.string().default('.palimpsest'),
  PALIMPSEST_MASTER_KEY_FILE: z.string().optional(),
  PALIMPSEST_SIGNING_KEY_FILE: z.string().optional(),
  PALIMPSEST_ANCHOR_FILE: z.string().optional(),
  PALIMPSEST_ANCHOR_URL: url(httpUrl, 'http:', 'https:'),
  PALIMPSEST_TOOLS_FILE: z.string().optional(),
  PALIMPSEST_PROJECTIONS_DIR: z.string().default('projections'),
  PALIMPSEST_MODELS_FILE: z.string().optional(),
  PALIMPSEST_PROJECTOR: z.enum(['on', 'off'], 'on or off').default('on'),
  PALIMPSEST_INTERNAL_URL: url(httpUrl, 'http:', 'https:'),
  PALIMPSEST_LOG_LEVEL: z.enum(logLevels, `one of ${logLevels.join(', ')}`).default('info'),
  PALIMPSEST_SQL_DATABASE_URL: url(postgresUrl, 'postgres:', 'postgresql:'),
  DATABASE_URL: url(postgresUrl, 'postgres:', 'postgresql:'),
  EVENTSTORE_URL: url('a URL like esdb://host:2113', 'esdb:', 'esdb+discover:', 'kurrentdb:', 'kurrentdb+discover:'),
  EVENTSTORE_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'a name of small letters, digits and hyphens, such as staging')
    .optional(),
  OPENAI_API_KEY: text('a key without spaces'),
  OPENAI_BASE_URL: url(httpUrl, 'http:', 'https:'),
  ANTHROPIC_API_KEY: text('a key without spaces'),
  ANTHROPIC_BASE_URL: url(httpUrl, 'http:', 'https:'),
};

/** Of the command line's clients: where an installation runs, and with which key. Servers pass them over. */
const clientVariables = ['PALIMPSEST_URL', 'PALIMPSEST_API_KEY'];

/** URLs are here because they may hold a password. */
const secrets = new Set<string>(
  Object.keys(variables).filter((name) => /(_API_KEY|_URL)$/.test(name) && !name.endsWith('_FILE')),
);
const limitNames = Object.keys(limits) as (keyof Limits)[];
const limitSchemas = Object.fromEntries(
  limitNames.map((name) => [limitVariable(name), whole(...(limits[name] as readonly [number, number, number]))]),
);
const environment = z.object({ ...variables, ...limitSchemas });

/** @throws ConfigError, with a sentence for each wrong variable. An empty variable counts as not set. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = environment.safeParse(given);
  const wrong = parsed.success
    ? []
    : parsed.error.issues.map((issue) => wrongValue(String(issue.path[0]), issue, given));
  const sentences = [...unknownNames(Object.keys(given)), ...wrong];
  if (sentences.length > 0 || !parsed.success) throw new ConfigError(sentences);
  const config = toConfig(parsed.data, given['PALIMPSEST_PORT'] !== undefined);
  checkTogether(config.limits);
  return config;
}

const absolute = (path: string | undefined): string | undefined => (path === undefined ? undefined : resolve(path));

type Environment = z.infer<z.ZodObject<typeof variables>> & Record<string, unknown>;

function toConfig(read: Environment, portGiven: boolean): Config {
  return {
    host: read.PALIMPSEST_HOST,
    port: read.PALIMPSEST_PORT,
    portGiven,
    dataDir: resolve(read.PALIMPSEST_DATA_DIR),
    databaseUrl: read.DATABASE_URL,
    eventStoreUrl: read.EVENTSTORE_URL,
    eventStoreNamespace: read.EVENTSTORE_NAMESPACE,
    sqlDatabaseUrl: read.PALIMPSEST_SQL_DATABASE_URL,
    masterKeyFile: absolute(read.PALIMPSEST_MASTER_KEY_FILE),
    signingKeyFile: absolute(read.PALIMPSEST_SIGNING_KEY_FILE),
    anchorFile: absolute(read.PALIMPSEST_ANCHOR_FILE),
    anchorUrl: read.PALIMPSEST_ANCHOR_URL,
    toolsFile: absolute(read.PALIMPSEST_TOOLS_FILE),
    projectionsDir: resolve(read.PALIMPSEST_PROJECTIONS_DIR),
    modelsFile: absolute(read.PALIMPSEST_MODELS_FILE),
    projects: read.PALIMPSEST_PROJECTOR === 'on',
    internalUrl: read.PALIMPSEST_INTERNAL_URL,
    logLevel: read.PALIMPSEST_LOG_LEVEL,
    openai: { apiKey: read.OPENAI_API_KEY, baseUrl: read.OPENAI_BASE_URL },
    anthropic: { apiKey: read.ANTHROPIC_API_KEY, baseUrl: read.ANTHROPIC_BASE_URL },
    limits: Object.fromEntries(limitNames.map((name) => [name, read[limitVariable(name)]])) as Limits,
  };
}

/** A lease that lapses between two renewals would have living turns taken over. */
function checkTogether({ leaseMs, leaseRenewMs }: Limits): void {
  if (leaseMs >= 2 * leaseRenewMs) return;
  throw new ConfigError([
    `PALIMPSEST_LEASE_MS is ${leaseMs}; it must be at least twice PALIMPSEST_LEASE_RENEW_MS, which is ${leaseRenewMs}.`,
  ]);
}

function wrongValue(name: string, issue: { message: string }, given: Record<string, string | undefined>): string {
  const value = secrets.has(name)
    ? 'set to something else (not shown here, it may hold a secret)'
    : JSON.stringify(given[name]);
  return `${name} is ${value}; it must be ${issue.message}.`;
}

function unknownNames(names: readonly string[]): string[] {
  const known = [...Object.keys(environment.shape), ...clientVariables];
  return names
    .filter((name) => name.startsWith('PALIMPSEST_') && !known.includes(name))
    .map((name) => {
      const [nearest] = known.map((other) => ({ other, far: distance(name, other) })).sort((a, b) => a.far - b.far);
      return nearest && nearest.far <= 4
        ? `${name} is not a setting; did you mean ${nearest.other}?`
        : `${name} is not a setting; unset it.`;
    });
}

/** Levenshtein's. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
