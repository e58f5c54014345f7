import { anchorSettings, createAnchorer } from '@palimpsest/application';
import { dataFiles, loadConfig } from '@palimpsest/platform';
import { Command, Option } from 'nest-commander';
import { interruptible } from '../interruptible';
import { Verb } from '../verb';
import { withInstallationLog } from '../verify/with-log';

@Command({
  name: 'anchor',
  description: 'Signs what has moved in the log since the last anchor, and brings it to where anchors are kept outside',
})
export class AnchorCommand extends Verb {
  protected override readonly examples = ['anchor', 'anchor --json'];

  override async run(_: string[], { json }: { readonly json?: boolean }): Promise<void> {
    const config = loadConfig(process.env);
    const { anchors, undelivered } = await interruptible((signal) =>
      withInstallationLog(config, signal, (store, pool) =>
        createAnchorer(pool, store, anchorSettings(config, dataFiles(config.dataDir)), () => undefined).anchorNow(),
      ),
    );
    const made = anchors.map(({ anchor: { statement, key } }) => ({
      ...{ number: statement.number, to: statement.to, events: statement.events, streams: statement.heads.length },
      key: key.id,
    }));
    const lines = made.map(
      ({ number, to, events, streams, key }) =>
        `Anchor ${number}: ${events} events of ${streams} streams, up to position ${to}, signed by ${key}.`,
    );
    const shown = lines.length ? lines.join('\n') : 'Nothing has moved since the last anchor.';
    process.stdout.write(`${json ? JSON.stringify({ anchors: made }) : shown}\n`);
    const failed = undelivered.map(({ error }) => (error instanceof Error ? error.message : String(error)));
    if (failed.length) throw new Error(failed.join('\n'));
  }

  @Option({ flags: '--json', description: 'One JSON document instead of text' })
  parseJson(): boolean {
    return true;
  }
}
