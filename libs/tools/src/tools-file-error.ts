/** What is wrong with the operator's tools file, one sentence a line. Never holds a secret. */
export class ToolsFileError extends Error {
  override readonly name = 'ToolsFileError';
}

export type Env = Readonly<Record<string, string | undefined>>;

/** `env:NAME`: where a secret comes from. No secret stands in the file itself. */
export const secretReference = /^env:[A-Za-z_][A-Za-z0-9_]*$/;

/** @throws ToolsFileError where the variable is not set. `whose` begins the sentence: `Tool "book"`. */
export function secretOf(reference: string, whose: string, env: Env): string {
  const variable = reference.slice('env:'.length);
  const value = env[variable];
  if (value) return value;
  throw new ToolsFileError(`${whose} takes its secret from ${variable}, which is not set.`);
}
