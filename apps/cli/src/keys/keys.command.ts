import { Command } from 'nest-commander';
import { VerbGroup } from '../verb';
import { CreateKeyCommand } from './create-key.command';
import { ListKeysCommand } from './list-keys.command';
import { RevokeKeyCommand } from './revoke-key.command';

@Command({
  name: 'keys',
  description: 'API keys: make, list and revoke them, while the installation runs or while it is stopped',
  subCommands: [CreateKeyCommand, ListKeysCommand, RevokeKeyCommand],
})
export class KeysCommand extends VerbGroup {
  protected override readonly examples = ['keys create --tenant acme', 'keys list'];
}
