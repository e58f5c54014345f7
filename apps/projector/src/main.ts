import { lifetimeOfThisProcess, run } from '@palimpsest/installation';
import { createLogger, loadConfig } from '@palimpsest/platform';
import { serveHealth } from './health-server';
import { openProjecting } from './projecting';

/**
 * A process that only projects: it follows the log and writes the read models. It needs no key and opens nothing that is sealed. Of several
 * such processes one writes each projection, and the others stand by.
 */
async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const log = createLogger(config.logLevel);
  const { ending, lose } = lifetimeOfThisProcess();
  const projecting = await openProjecting(config, log);
  try {
    const served = await serveHealth(config, projecting, log);
    process.stdout.write(`The projector serves at ${served.url}\n`);
    projecting.start(lose);
    const why = await ending;
    if ('lost' in why) throw why.lost;
    log.info(why, 'shutting down');
    await projecting.stop();
    await served.close();
  } catch (error) {
    await projecting.stop().catch(() => undefined);
    throw error;
  }
}

run(main);
