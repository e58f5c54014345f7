import type { FastifyInstance } from 'fastify';
import { createReadStream } from 'node:fs';
import { dirname, join } from 'node:path';

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Palimpsest</title>
    <link rel="stylesheet" href="./docs/swagger-ui.css">
    <link rel="icon" href="./docs/favicon-32x32.png">
  </head>
  <body>
    <div id="page"></div>
    <script src="./docs/swagger-ui-bundle.js"></script>
    <script src="./docs/page.js"></script>
  </body>
</html>
`;

const script = `SwaggerUIBundle({ url: './openapi.json', dom_id: '#page', deepLinking: true, validatorUrl: null });\n`;

const files = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

/**
 * Swagger UI at /docs, out of its npm package: nothing is loaded from elsewhere. Served by hand, as @fastify/static cannot be
 * loaded inside Jest.
 */
export function serveDocsPage(fastify: FastifyInstance): void {
  const folder = dirname(require.resolve('swagger-ui-dist/package.json'));
  const secured = {
    'content-security-policy': `default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:`,
  };
  fastify.get('/docs', (_request, reply) => reply.headers(secured).type('text/html; charset=utf-8').send(page));
  fastify.get('/docs/', (_request, reply) => reply.redirect('../docs'));
  fastify.get('/docs/page.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(script));
  for (const [name, type] of Object.entries(files))
    fastify.get(`/docs/${name}`, (_request, reply) =>
      reply
        .type(type)
        .header('cache-control', 'max-age=3600')
        .send(createReadStream(join(folder, name))),
    );
}
