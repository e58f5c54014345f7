import { CommandRunner } from 'nest-commander';

/** A command as the parser has it. */
export type ParsedCommand = Parameters<CommandRunner['setCommand']>[0];

/** The command cannot be done as it was given. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What was checked is not sound, and the verb has said so by itself. Exit code 1. */
export class Unsound extends Error {
  override readonly name = 'Unsound';
}

/** The check did not come to its end, so that nothing is known. Exit code 3. */
export class NotChecked extends Error {
  override readonly name = 'NotChecked';
}

/** As they stand at the end of a help. */
export const exampleLines = (examples: readonly string[]): string =>
  `\nExamples:\n${examples.map((example) => `  $ palimpsest ${example}\n`).join('')}`;

/** A verb of the command line: throws where it fails, and leaves the exit code to `main`. */
export abstract class Verb extends CommandRunner {
  /** Shown under `--help`. */
  protected abstract readonly examples: readonly string[];

  /** The base class gives each verb its command here, before it adds the options. */
  override setCommand(command: ParsedCommand): this {
    command
      .exitOverride()
      .allowExcessArguments(false)
      .addHelpText('after', exampleLines(this.examples))
      .configureOutput({ outputError: (text, write) => write(`${text}See: ${fullName(command)} --help\n`) });
    return super.setCommand(command);
  }
}

/** A verb that only holds others. */
export abstract class VerbGroup extends Verb {
  override setCommand(command: ParsedCommand): this {
    super.setCommand(command).command.allowExcessArguments(true);
    return this;
  }

  override run([unknown]: string[]): Promise<void> {
    if (unknown === undefined) this.command.help({ error: true });
    this.command.error(`error: there is no verb '${unknown}' here`);
  }
}

function fullName(command: ParsedCommand): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}
