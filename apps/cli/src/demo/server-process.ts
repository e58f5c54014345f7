import '../../../api/src/main';
import { removeData } from '@palimpsest/platform';

/**
 * The real server, on the demo's own data. It ends with the process that started it, also where that one was killed, and then takes the
 * data along; that nobody reads its output any more does not keep it from stopping in order. The server begins its work
 * asynchronously, so this is on watch before anything is started.
 */
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
process.once('disconnect', () => {
  const dataDir = process.env['PALIMPSEST_DATA_DIR'];
  process.once('exit', () => void (dataDir && removeData(dataDir)));
  process.kill(process.pid, 'SIGTERM');
});
