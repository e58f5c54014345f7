import { PostgresApiKeys } from '@palimpsest/application';
import { loadConfig } from '@palimpsest/platform';
import { Option, SubCommand } from 'nest-commander';
import { interruptible } from '../interruptible';
import { Verb } from '../verb';
import { withInstallationDatabase } from '../installation-database';

@SubCommand({ name: 'list', description: 'Every API key, oldest first. Secrets are kept nowhere and cannot be shown' })
export class ListKeysCommand extends Verb {
  protected override readonly examples = ['keys list', 'keys list --json'];

  override async run(_: string[], { json }: { readonly json?: boolean }): Promise<void> {
    const config = loadConfig(process.env);
    const keys = await interruptible(() =>
      withInstallationDatabase(config, (pool) => new PostgresApiKeys(pool).list()),
    );
    const lines = keys.map(({ keyId, tenantName, roles, createdAt, revokedAt }) => {
      const state = revokedAt === null ? 'valid' : `revoked ${day(revokedAt)}`;
      return [keyId, day(createdAt), roles.join('+').padEnd(15), state.padEnd(18), tenantName].join('  ');
    });
    process.stdout.write(`${json ? JSON.stringify({ keys }) : lines.join('\n')}\n`);
  }

  @Option({ flags: '--json', description: 'One JSON document instead of text' })
  parseJson(): boolean {
    return true;
  }
}

const day = (at: Date): string => at.toISOString().slice(0, 10);
