import { createLogger, loadConfig, openDataDir } from '@palimpsest/platform';
import { banner } from './banner';
import { serve } from './serve';
import { openInstallation } from './wiring/installation';

/** Why the process ends: somebody asked, or it lost what it can't be without. */
type Ending = { readonly signal: NodeJS.Signals } | { readonly lost: Error };

/** The whole of Palimpsest in one process. */
async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const log = createLogger(config.logLevel);
  const home = openDataDir(config.dataDir);
  try {
    const { ending, lose } = endingOfThisProcess();
    const installation = await openInstallation(config, home, log, lose);
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

/** npm passes a Ctrl-C on to a process that the terminal has told already: two signals within this time are one wish. Milliseconds. */
const ONE_WISH_MS = 1_000;

/** A second signal ends the process at once; nothing that was acknowledged is lost by it. */
function endingOfThisProcess(): { readonly ending: Promise<Ending>; readonly lose: (error: Error) => void } {
  let lose: (error: Error) => void = () => undefined;
  const ending = new Promise<Ending>((resolve) => {
    lose = (lost) => resolve({ lost });
    let askedAt: number | undefined;
    const ask = (signal: NodeJS.Signals) => {
      if (askedAt !== undefined && performance.now() - askedAt > ONE_WISH_MS) process.exit(130);
      askedAt ??= performance.now();
      resolve({ signal });
    };
    process.on('SIGINT', ask);
    process.on('SIGTERM', ask);
  });
  return { ending, lose };
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
