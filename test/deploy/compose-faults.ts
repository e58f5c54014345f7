import { ConfigError, loadConfig } from '@palimpsest/platform';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse } from 'yaml';

interface Service {
  readonly image?: string;
  readonly build?: { readonly dockerfile?: string };
  readonly healthcheck?: unknown;
  readonly privileged?: boolean;
  readonly user?: string | number;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly deploy?: { readonly resources?: { readonly limits?: Readonly<Record<string, string | number>> } };
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly secrets?: readonly (string | { readonly source: string })[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks?: object;
  readonly volumes?: object;
  readonly secrets?: object;
}

/** As `dclint` has it; the types that it ships do not resolve. */
interface Linter {
  lintFiles(paths: string[], recursive: boolean): LintedFile[];
}
interface LintedFile {
  readonly filePath: string;
  readonly messages: readonly { readonly line: number; readonly message: string }[];
}

/** What holds for compose files everywhere: the schema, and the rules of the linter that are not about its taste in order and quotes. */
const rules = {
  'no-build-and-image': [2, { checkPullPolicy: true }],
  'no-quotes-in-volumes': 0,
  'service-dependencies-alphabetical-order': 0,
  'service-keys-order': 0,
  'services-alphabetical-order': 0,
  'top-level-properties-order': 0,
};

/** What is wrong with a compose file, or with several that are laid over each other. */
export async function faultsOfCompose(...paths: readonly string[]): Promise<string[]> {
  const dclint: { DCLinter: new (config: object) => Linter } = await import('dclint');
  const linter = new dclint.DCLinter({ rules, quiet: false, debug: false, exclude: [] });
  const linted = linter
    .lintFiles([...paths], false)
    .flatMap(({ filePath, messages }) =>
      messages.map(({ line, message }) => `${basename(filePath)}:${line} ${message}`),
    );
  if (linted.length > 0) return linted;
  const files = paths.map((path) => parse(readFileSync(path, 'utf8'), { merge: true }) as Compose);
  return [...files.flatMap(faultsOfServices), ...dangling(files)];
}

function faultsOfServices({ services }: Compose): string[] {
  // A service without an image adds to the one of the file below.
  const whole = Object.entries(services).filter(([, { image }]) => image !== undefined);
  return [
    ...whole.flatMap(([name, service]) => faultsOfService(service).map((fault) => `${name} ${fault}`)),
    ...Object.entries(services).flatMap(([name, { environment = {} }]) =>
      faultsOfEnvironment(environment).map((fault) => `${name}: ${fault}`),
    ),
  ];
}

function faultsOfService(service: Service): string[] {
  const { image = '', deploy, security_opt: security = [], cap_drop: dropped = [], ports = [] } = service;
  const faults: [boolean, string][] = [
    [!/:v?\d+(\.\d+)+[\w.-]*(@sha256:\w+)?$/.test(image), `has an image without a version: ${image}`],
    [!service.healthcheck && !service.build, 'has no health check'],
    [deploy?.resources?.limits?.['memory'] === undefined, 'has no limit of memory'],
    [service.privileged === true, 'is privileged'],
    [service.user !== undefined && /^(root|0)(:|$)/.test(String(service.user)), 'runs as root'],
    [!dropped.includes('ALL'), 'keeps capabilities'],
    [!security.includes('no-new-privileges:true'), 'may gain privileges'],
    ...ports.map((port): [boolean, string] => [!port.startsWith('127.0.0.1:'), `opens ${port} to everybody`]),
  ];
  return faults.filter(([isWrong]) => isWrong).map(([, fault]) => fault);
}

function faultsOfEnvironment(environment: Readonly<Record<string, string>>): string[] {
  const secrets = Object.keys(environment).filter((name) => /(PASSWORD|SECRET|TOKEN|_KEY)$/.test(name));
  const isOurs = Object.keys(environment).some((name) => name.startsWith('PALIMPSEST_'));
  return [
    ...secrets.map((name) => `${name} is a secret in the environment`),
    ...(isOurs ? faultsOfSettings(environment) : []),
  ];
}

/** Whether a process would start with these. */
function faultsOfSettings(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.sentences;
    throw error;
  }
}

/** What a service names and no file defines. */
function dangling(files: readonly Compose[]): string[] {
  const known = (part: 'services' | 'networks' | 'volumes' | 'secrets') =>
    new Set(files.flatMap((file) => Object.keys(file[part] ?? {})));
  const defined = {
    services: known('services'),
    networks: known('networks'),
    volumes: known('volumes'),
    secrets: known('secrets'),
  };
  return files.flatMap(({ services }) =>
    Object.entries(services).flatMap(([name, { depends_on = {}, networks = [], volumes = [], secrets = [] }]) => {
      const used = {
        services: Object.keys(depends_on),
        networks,
        volumes: volumes.map((volume) => volume.split(':')[0] ?? ''),
        secrets: secrets.map((secret) => (typeof secret === 'string' ? secret : secret.source)),
      };
      return (Object.keys(used) as (keyof typeof used)[]).flatMap((part) =>
        used[part]
          .filter((each) => !defined[part].has(each))
          .map((each) => `${name} uses ${each}, which is none of the ${part}`),
      );
    }),
  );
}
