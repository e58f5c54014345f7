import type { Config } from '@palimpsest/platform';

/**
 * Binds to the configured port; where nobody named one and the usual one is taken, to a free one. Answers the port that was taken, if it
 * was.
 */
export async function listenWhereConfigured(
  { host, port, portGiven }: Pick<Config, 'host' | 'port' | 'portGiven'>,
  listen: (port: number, host: string) => Promise<unknown>,
): Promise<number | undefined> {
  try {
    await listen(port, host);
    return undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    if (portGiven)
      throw new Error(`Port ${port} on ${host} is taken. Set PALIMPSEST_PORT to another one, or to 0 for any.`, {
        cause: error,
      });
    await listen(0, host);
    return port;
  }
}

/** `http://host:port`, as bound. */
export function urlOf(server: {
  address(): string | { family: string; address: string; port: number } | null;
}): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server is not bound to a port.');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
