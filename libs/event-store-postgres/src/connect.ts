import type { Pool, PoolClient } from 'pg';

/** A connection of the pool, or an error in time: a pool that is used up, or a server that is frozen, lets one wait for ever. */
export async function connectWithin(pool: Pool, ms: number): Promise<PoolClient> {
  const connecting = pool.connect();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The pool gave no connection within ${ms} ms.`)), ms);
  });
  try {
    return await Promise.race([connecting, late]);
  } catch (error) {
    // It may still come, and is nobody's then.
    connecting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
