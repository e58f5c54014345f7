import { createServer, type AddressInfo } from 'node:net';

/** A port of 127.0.0.1 that is free now. Somebody may take it before you do: be ready to ask again. */
export function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer().once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => done(port));
    });
  });
}
