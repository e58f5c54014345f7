import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Config, Logger } from '@palimpsest/platform';
import { AppModule } from './app.module';
import { configureEdge } from './http/configure-edge';
import { createFastifyAdapter } from './http/fastify-adapter';
import type { Installation } from './wiring/installation';

export interface Served {
  /** `http://host:port`, as bound. */
  readonly url: string;
  /** True where the usual port was taken and another one serves. */
  readonly movedFrom: number | undefined;
  close(): Promise<void>;
}

/** Serves an installation over HTTP. */
export async function serve(config: Config, installation: Installation, log: Logger): Promise<Served> {
  const edge = { maxBodyBytes: config.limits.maxBodyBytes, log };
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.of(installation, edge),
    createFastifyAdapter(edge),
    {
      logger: false,
      abortOnError: false,
    },
  );
  configureEdge(app, edge);
  await app.init();
  const movedFrom = await listen(app, config);
  const url = urlOf(app);
  installation.running.announce(config.internalUrl ?? url);
  return { url, movedFrom, close: () => app.close() };
}

/** The configured port; where nobody named one and the usual one is taken, a free one. */
async function listen(app: NestFastifyApplication, { host, port, portGiven }: Config): Promise<number | undefined> {
  try {
    await app.listen(port, host);
    return undefined;
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (!taken) throw error;
    if (portGiven)
      throw new Error(`Port ${port} on ${host} is taken. Set PALIMPSEST_PORT to another one, or to 0 for any.`, {
        cause: error,
      });
    await app.listen(0, host);
    return port;
  }
}

function urlOf(app: NestFastifyApplication): string {
  const address = app.getHttpServer().address();
  if (address === null || typeof address === 'string') throw new Error('The server is not bound to a port.');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
