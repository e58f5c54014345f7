import 'reflect-metadata';
import { CommandFactory } from 'nest-commander';
import { CliModule } from './cli.module';
import { Interrupted } from './interruptible';
import { NotChecked, Unsound, UsageError } from './verb';

const NOT_FOUND_OUT = 3;

/** 0: done. 1: it failed. 2: it was not asked for rightly. 3: it could not be found out. 128 and the signal's number: it was interrupted. */
async function main(): Promise<number> {
  const passOn = (error: Error): never => {
    throw error;
  };
  try {
    await CommandFactory.run(CliModule, {
      logger: false,
      abortOnError: false,
      cliName: 'palimpsest',
      errorHandler: passOn,
      serviceErrorHandler: passOn,
    });
    return 0;
  } catch (error) {
    return failed(error);
  }
}

function failed(error: unknown): number {
  // The parser of the command line has already said what is wrong, or shown the help that was asked for.
  if (isParserExit(error)) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Interrupted) return error.exitCode;
  if (error instanceof Unsound) return 1;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof UsageError) return 2;
  return error instanceof NotChecked ? NOT_FOUND_OUT : 1;
}

function isParserExit(error: unknown): error is { readonly exitCode: number } {
  return (
    error instanceof Error && 'exitCode' in error && String((error as { code?: unknown }).code).startsWith('commander.')
  );
}

// Whoever read our output has gone (`palimpsest demo | head`): there is nobody left to tell.
process.stdout.on('error', () => {
  process.off('exit', unfinished);
  process.exit(1);
});

// A verb that waits for what keeps no process alive would end it in the midst, and that must not pass for success.
process.exitCode = NOT_FOUND_OUT;
const unfinished = (): void => void process.stderr.write('The process ended before it was done: nothing is known.\n');
process.once('exit', unfinished);

void main().then((code) => {
  process.off('exit', unfinished);
  // Standard output may be a pipe that still holds something: the process ends by itself once it is read.
  process.exitCode = code;
});
