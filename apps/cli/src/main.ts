import 'reflect-metadata';
import { CommandFactory } from 'nest-commander';
import { CliModule } from './cli.module';
import { Interrupted } from './interruptible';
import { UsageError } from './verb';

/** 0: done. 1: it failed. 2: it was not asked for rightly. 128 and the signal's number: it was interrupted. */
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
    return process.exitCode === undefined ? 0 : Number(process.exitCode);
  } catch (error) {
    return failed(error);
  }
}

function failed(error: unknown): number {
  // The parser of the command line has already said what is wrong, or shown the help that was asked for.
  if (isParserExit(error)) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Interrupted) return error.exitCode;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return error instanceof UsageError ? 2 : 1;
}

function isParserExit(error: unknown): error is { readonly exitCode: number } {
  return (
    error instanceof Error && 'exitCode' in error && String((error as { code?: unknown }).code).startsWith('commander.')
  );
}

// Whoever read our output has gone (`palimpsest demo | head`): there is nobody left to tell.
process.stdout.on('error', () => process.exit(1));

void main().then((code) => {
  // Standard output may be a pipe that still holds something: the process ends by itself once it is read.
  process.exitCode = code;
});
