import type { Config } from '@palimpsest/platform';
import type { Served } from './serve';
import type { Installation } from './wiring/installation';

/** What a person sees at the start. */
export function banner(config: Config, installation: Installation, { url, movedFrom }: Served): string {
  const { provider, name } = installation.providers.defaultModel;
  const model =
    provider === 'simulated'
      ? 'simulated: no provider key is set, so answers come from a small program of this process. Set OPENAI_API_KEY or ANTHROPIC_API_KEY for a real model.'
      : `${provider} ${name}, where an assistant names no other`;
  const lines = [
    '',
    `Palimpsest serves at ${url}`,
    ...(movedFrom === undefined ? [] : [`  (port ${movedFrom} is taken by another program)`]),
    `  API docs    ${url}/docs`,
    `  Data        ${config.dataDir} (${installation.database})`,
    `  API key     in ${installation.keyFile}`,
    `  Model       ${model}`,
    `  SQL tool    ${installation.tools.sql}`,
    ...installation.notes.map((note) => `  Note        ${note}`),
    '  Stop        Ctrl-C',
    '',
  ];
  return `${lines.join('\n')}\n`;
}
