/**
 * The api program, except that it calls the simulated model at an address: that of the test which started it, so that the test sees what is
 * asked and can count it. `node -r ./test/support/ts.cjs test/support/api-process.ts URL`.
 */
import { run } from '@palimpsest/installation';
import { apiProcess } from '../../apps/api/src/api-process';

const [url = ''] = process.argv.slice(2);
run(() => apiProcess({ url }));
