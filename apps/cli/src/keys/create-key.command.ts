import { type Caller, PostgresApiKeys } from '@palimpsest/application';
import { loadConfig } from '@palimpsest/platform';
import { Option, SubCommand } from 'nest-commander';
import { interruptible } from '../interruptible';
import { UsageError, Verb } from '../verb';
import { withInstallationDatabase } from '../installation-database';

type Role = Caller['roles'][number];
const roles: readonly Role[] = ['tenant', 'operator'];

interface Options {
  readonly tenant: string;
  readonly role?: readonly Role[];
  readonly json?: boolean;
}

@SubCommand({ name: 'create', description: 'Makes an API key for a tenant, and the tenant if it is new' })
export class CreateKeyCommand extends Verb {
  protected override readonly examples = [
    'keys create --tenant acme',
    'keys create --tenant acme --role tenant --role operator --json',
  ];

  override async run(_: string[], { tenant, role = ['tenant'], json }: Options): Promise<void> {
    const config = loadConfig(process.env);
    const key = await interruptible(() =>
      withInstallationDatabase(config, (pool) => new PostgresApiKeys(pool).create({ tenantName: tenant }, role)),
    );
    const shown = json
      ? JSON.stringify({ keyId: key.keyId, tenantId: key.tenantId, tenant, roles: role, secret: key.secret })
      : [
          `Made a key for the tenant "${tenant}". Its secret is shown this once:`,
          '',
          `  ${key.secret}`,
          '',
          `  key     ${key.keyId}`,
          `  tenant  ${key.tenantId}`,
          `  roles   ${role.join(', ')}`,
          '',
          'Send it as "Authorization: Bearer <secret>".',
        ].join('\n');
    process.stdout.write(`${shown}\n`);
  }

  @Option({ flags: '--tenant <name>', description: 'For whom requests with this key act', required: true })
  parseTenant(name: string): string {
    if (name.trim() !== '') return name;
    throw new UsageError('A tenant needs a name: --tenant NAME.');
  }

  @Option({ flags: '--role <role>', description: 'tenant (the usual) or operator; may be given twice' })
  parseRole(given: string, before: readonly Role[] = []): readonly Role[] {
    const role = roles.find((known) => known === given);
    if (role === undefined)
      throw new UsageError(`There is no role "${given}"; a key has the role tenant, operator, or both.`);
    return [...new Set([...before, role])];
  }

  @Option({ flags: '--json', description: 'One JSON document instead of text' })
  parseJson(): boolean {
    return true;
  }
}
