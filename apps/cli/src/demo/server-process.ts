import '../../../api/src/main';
import { removeData } from '@palimpsest/platform';

/**
 * The real server, on the demo's own data. It ends with the process that started it, also where that one was killed, and then takes the
 * data along. The server begins its work asynchronously, so this is on watch before anything is started.
 */
process.once('disconnect', () => {
  const dataDir = process.env['PALIMPSEST_DATA_DIR'];
  process.once('exit', () => void (dataDir && removeData(dataDir)));
  process.kill(process.pid, 'SIGTERM');
});
