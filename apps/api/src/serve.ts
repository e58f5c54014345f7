import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { listenWhereConfigured, urlOf } from '@palimpsest/installation';
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
  const { queries } = installation.running.system.own;
  const edge = { maxBodyBytes: config.limits.maxBodyBytes, log, queries };
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
  const movedFrom = await listenWhereConfigured(config, (port, host) => app.listen(port, host));
  const url = urlOf(app.getHttpServer());
  installation.running.announce(config.internalUrl ?? url);
  return { url, movedFrom, close: () => app.close() };
}
