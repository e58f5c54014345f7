import { lifetimeOfThisProcess } from '@palimpsest/installation';
import { createLogger, loadConfig, openDataDir } from '@palimpsest/platform';
import { banner } from './banner';
import { serve } from './serve';
import { openInstallation } from './wiring/installation';
import { readOperatorFiles } from './wiring/operator-files';

/** The whole of Palimpsest in one process, until it is told to end. `simulated`: see `openInstallation`. */
export async function apiProcess(simulated?: { readonly url: string }): Promise<void> {
  const config = loadConfig(process.env);
  const log = createLogger(config.logLevel);
  const files = readOperatorFiles(config);
  const home = openDataDir(config.dataDir);
  try {
    const { ending, lose } = lifetimeOfThisProcess();
    const installation = await openInstallation(config, files, home, log, lose, simulated);
    try {
      const served = await serve(config, installation, log);
      home.announce(served.url);
      process.stdout.write(banner(config, installation, served));
      const why = await ending;
      if ('lost' in why) throw why.lost;
      log.info(why, 'shutting down');
      await installation.running.drain();
      await served.close();
    } finally {
      await installation.close();
    }
  } finally {
    home.release();
  }
}
