import type { FastifyInstance } from 'fastify';

interface KnownRoutes {
  /** The methods that a path takes; none: there is no such path. */
  methodsOf(url: string): readonly string[];
}

const known = new WeakMap<object, KnownRoutes>();

/** Fastify answers 404 for a known path with another method, so the paths are kept here as well. Call before any route is made. */
export function rememberRoutes(fastify: FastifyInstance): void {
  const routes: { path: RegExp; methods: readonly string[] }[] = [];
  fastify.addHook('onRoute', ({ url, method }) => {
    if (!url.includes('*')) routes.push({ path: pathOf(url), methods: [method].flat() });
  });
  known.set(fastify.server, {
    methodsOf(url) {
      const [path = ''] = url.split('?');
      const methods = routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods);
      return [...new Set(methods)].sort();
    },
  });
}

export const knownRoutes = (fastify: FastifyInstance): KnownRoutes =>
  known.get(fastify.server) ?? { methodsOf: () => [] };

const pathOf = (url: string): RegExp =>
  new RegExp(`^${url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`);
