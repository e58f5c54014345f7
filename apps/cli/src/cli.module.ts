import { Module } from '@nestjs/common';
import { InjectCommander } from 'nest-commander';
import { AnchorCommand } from './anchor/anchor.command';
import { BacktestCommand } from './backtest/backtest.command';
import { DemoCommand } from './demo/demo.command';
import { CreateKeyCommand } from './keys/create-key.command';
import { KeysCommand } from './keys/keys.command';
import { ListKeysCommand } from './keys/list-keys.command';
import { RevokeKeyCommand } from './keys/revoke-key.command';
import { RotateKeysCommand } from './keys/rotate-keys.command';
import { RotateSigningKeyCommand } from './keys/rotate-signing-key.command';
import { LineageCommand } from './lineage/lineage.command';
import { DiffCommand } from './nodes/diff.command';
import { ReissueCommand } from './nodes/reissue.command';
import { ReplayCommand } from './nodes/replay.command';
import { DropGenerationCommand } from './projections/drop.command';
import { NewProjectionCommand } from './projections/new.command';
import { ProjectionsCommand } from './projections/projections.command';
import { RebuildCommand } from './projections/rebuild.command';
import { RetryCommand } from './projections/retry.command';
import { TailCommand } from './tail/tail.command';
import { exampleLines, type ParsedCommand } from './verb';
import { ExportCommand } from './transfer/export.command';
import { ImportCommand } from './transfer/import.command';
import { VerifyCommand } from './verify/verify.command';

const examples = [
  'demo',
  'replay 01a229ff-1fd7-738f-80cd-6a29f0c093be-1',
  'import conversations.json --dry-run',
  'projections new turns-by-day',
  'verify',
];

/** One verb, one file; a group of verbs, one folder. */
@Module({
  providers: [
    DemoCommand,
    ...[ReplayCommand, DiffCommand, ReissueCommand, LineageCommand, TailCommand, BacktestCommand],
    ...[VerifyCommand, AnchorCommand, ExportCommand, ImportCommand],
    ...[KeysCommand, CreateKeyCommand, ListKeysCommand, RevokeKeyCommand, RotateKeysCommand, RotateSigningKeyCommand],
    ...[ProjectionsCommand, RebuildCommand, DropGenerationCommand, RetryCommand, NewProjectionCommand],
  ],
})
export class CliModule {
  constructor(@InjectCommander() program: ParsedCommand) {
    program
      .name('palimpsest')
      .enablePositionalOptions()
      .description('Palimpsest: a conversation backend that can show, byte for byte, what a model saw')
      .addHelpText(
        'after',
        `${exampleLines(examples)}\nSettings come from the same environment variables as those of the server.\n`,
      );
  }
}
