import { createLogger, createPool } from '@palimpsest/platform';
import { createTestDatabase } from '../../../test/support/database';
import { keepToOneLog, oneLogSchema } from './one-log';

it('keeps a database to the log that its first start named', async () => {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, applicationName: 'test', log: createLogger('silent') });
  try {
    await pool.query(oneLogSchema);
    await Promise.all([keepToOneLog(pool, 'postgres'), keepToOneLog(pool, 'postgres')]);
    await expect(keepToOneLog(pool, 'eventstoredb')).rejects.toThrow('Unset EVENTSTORE_URL, or begin anew');
    await expect(keepToOneLog(pool, 'postgres')).resolves.toBeUndefined();
  } finally {
    await pool.end();
    await database.drop();
  }
});
