import { PostgresApiKeys } from '@palimpsest/application';
import { loadConfig } from '@palimpsest/platform';
import { SubCommand } from 'nest-commander';
import { interruptible } from '../interruptible';
import { UsageError, Verb } from '../verb';
import { withInstallationDatabase } from '../installation-database';

const keyIdForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

@SubCommand({
  name: 'revoke',
  arguments: '<key>',
  argsDescription: { key: 'The id of the key, as "keys list" shows it' },
  description: 'Makes an API key invalid, within 10 s in processes that run',
})
export class RevokeKeyCommand extends Verb {
  protected override readonly examples = ['keys revoke 01a229ff-1fd7-738f-80cd-6a29f0c093be'];

  override async run([keyId = '']: string[]): Promise<void> {
    if (!keyIdForm.test(keyId)) throw new UsageError('That is no id of a key; "palimpsest keys list" shows them.');
    const config = loadConfig(process.env);
    const revoked = await interruptible(() =>
      withInstallationDatabase(config, (pool) => new PostgresApiKeys(pool).revoke(keyId)),
    );
    if (!revoked) throw new Error(`There is no valid key ${keyId}: it was revoked before, or never made.`);
    process.stdout.write(`Revoked ${keyId}.\n`);
  }
}
