import { signingKeyFiles } from '@palimpsest/application';
import { rotateSigningKey } from '@palimpsest/audit';
import { dataFiles, loadConfig } from '@palimpsest/platform';
import { existsSync } from 'node:fs';
import { SubCommand } from 'nest-commander';
import { UsageError, Verb } from '../verb';

@SubCommand({
  name: 'rotate-signing',
  description: 'Makes a new key that signs anchors from now on; what the old one signed stays good',
})
export class RotateSigningKeyCommand extends Verb {
  protected override readonly examples = ['keys rotate-signing'];

  override async run(): Promise<void> {
    const config = loadConfig(process.env);
    const files = signingKeyFiles(config, dataFiles(config.dataDir));
    if (!existsSync(files.privateKey)) throw new UsageError(`There is no signing key in ${files.privateKey} yet.`);
    const rotated = rotateSigningKey(files);
    process.stdout.write(
      `Anchors are signed by ${rotated.new.id} from now on, no longer by ${rotated.old.id}. ` +
        `Give your auditor the public keys anew: ${files.publicKeys}\n`,
    );
  }
}
