import { Command } from 'nest-commander';
import { VerbGroup } from '../verb';
import { CreateKeyCommand } from './create-key.command';
import { ListKeysCommand } from './list-keys.command';
import { RevokeKeyCommand } from './revoke-key.command';
import { RotateKeysCommand } from './rotate-keys.command';
import { RotateSigningKeyCommand } from './rotate-signing-key.command';

@Command({
  name: 'keys',
  description: 'API keys: make, list and revoke them; keys of the installation: rotate them. It may run or be stopped',
  subCommands: [CreateKeyCommand, ListKeysCommand, RevokeKeyCommand, RotateKeysCommand, RotateSigningKeyCommand],
})
export class KeysCommand extends VerbGroup {
  protected override readonly examples = ['keys create --tenant acme', 'keys list'];
}
