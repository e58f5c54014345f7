import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiKeys, Metrics } from '@palimpsest/application';
import { accessLog } from './access-log';
import { authenticator } from './authenticate';
import { Clients } from './clients';
import { closeConnectionsWhenIdle } from './connections';
import type { EdgeConfig } from './edge-config';
import { serveDescription } from './openapi';
import { Problem } from './problem';

/** What must stand around the routes. Call once, after the application is made and before it is initialised. */
export function configureEdge(app: NestFastifyApplication, config: EdgeConfig): void {
  const fastify = app.getHttpAdapter().getInstance();
  const clients = app.get(Clients, { strict: false });
  const keys = app.get<ApiKeys>(ApiKeys, { strict: false });
  fastify.addHook('onRequest', accessLog(config.log, app.get(Metrics, { strict: false })));
  fastify.addHook('onRequest', async () => {
    if (clients.closed) throw new Problem('shutting_down', 'This process is shutting down. Send the request again.');
  });
  fastify.addHook('onRequest', authenticator(keys));
  const closeConnections = closeConnectionsWhenIdle(app.getHttpServer());
  fastify.addHook('preClose', async () => {
    clients.sendAway();
    closeConnections();
  });
  serveDescription(app, config.queries);
}
