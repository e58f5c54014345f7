import { startEdge, type EdgeUnderTest } from '../../testing/edge-under-test';

let edge: EdgeUnderTest;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

interface Operation {
  readonly operationId: string;
  readonly security?: object[];
  readonly responses: Record<string, { content?: Record<string, unknown> }>;
  readonly parameters?: { name: string; in: string }[];
}

interface Property {
  readonly type?: string;
  readonly $ref?: string;
  readonly allOf?: object[];
  readonly oneOf?: object[];
}

interface Description {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, { readonly properties: Record<string, Property> }> };
}

const fetchDescription = async (): Promise<Description> =>
  (await (await fetch(`${edge.url}/openapi.json`)).json()) as Description;

describe('the description', () => {
  it('has every route, each with an id of its own, a key, and its problems', async () => {
    const document = await fetchDescription();
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        path,
        method,
        ...operation,
      })),
    );
    expect(operations.map(({ name }) => name).sort()).toEqual(
      [
        'DELETE /v1/conversations/{id}',
        'GET /healthz',
        'GET /metrics',
        'GET /readyz',
        'GET /v1/approvals',
        'GET /v1/conversations',
        'GET /v1/conversations/{id}',
        'GET /v1/conversations/{id}/transcript',
        'GET /v1/conversations/{id}/tree',
        'GET /v1/conversations/{id}/turns/{turnId}',
        'GET /v1/conversations/{id}/turns/{turnId}/events',
        'GET /v1/conversations/{id}/usage',
        'GET /v1/lineage',
        'GET /v1/events',
        'GET /v1/nodes/{id}',
        'GET /v1/playbooks/{id}',
        'GET /v1/playbooks/{id}/diff',
        'GET /v1/playbooks/{id}/versions',
        'POST /v1/conversations/{id}/playbooks',
        'POST /v1/playbooks/{id}/conversations',
        'POST /v1/playbooks/{id}/versions',
        'GET /v1/nodes/{id}/replay',
        'GET /v1/nodes/{id}/diff',
        'GET /v1/nodes/{id}/coverage',
        'GET /v1/nodes/{id}/diagnosis',
        'GET /v1/conversations/{id}/context',
        'GET /v1/projections',
        'DELETE /v1/projections/{name}/generations/{generation}',
        'POST /v1/projections/{name}/rebuild',
        'POST /v1/projections/{name}/retry',
        'POST /v1/assistants',
        'POST /v1/conversations',
        'POST /v1/conversations/{id}/approvals/{toolCallId}',
        'POST /v1/conversations/{id}/clear',
        'POST /v1/conversations/{id}/compactions',
        'GET /v1/conversations/{id}/export',
        'POST /v1/backtests',
        'POST /v1/imports',
        'POST /v1/conversations/{id}/state',
        'POST /v1/nodes/{id}/reissue',
        'POST /v1/nodes/{id}/tags',
        'GET /v1/conversations/{id}/state',
        'GET /v1/conversations/{id}/state/history',
        'POST /v1/conversations/{id}/turns',
        'POST /v1/conversations/{id}/turns/{turnId}/cancel',
        'POST /v1/conversations/{id}/turns/{turnId}/edit',
        'POST /v1/conversations/{id}/turns/{turnId}/regenerate',
        'PUT /v1/conversations/{id}/head',
      ].sort(),
    );
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { path, method, security, responses, parameters } of operations.filter(({ path }) =>
      path.startsWith('/v1'),
    )) {
      expect([path, security]).toEqual([path, [{ bearer: [] }]]);
      for (const status of ['400', '401', '500', '503'])
        expect(responses[status]?.content).toHaveProperty(['application/problem+json']);
      const names = (parameters ?? []).map(({ name }) => name);
      if (method === 'post' || method === 'put')
        expect([path, names]).toEqual([path, expect.arrayContaining(['Idempotency-Key'])]);
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) expect(names).toContain(name);
    }
  });

  it('refers to nothing that it does not hold', async () => {
    const document = await fetchDescription();
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name,
    );
    expect(references.length).toBeGreaterThan(20);
    for (const name of references) expect(document.components.schemas).toHaveProperty([name as string]);
  });

  it('gives each field a type', async () => {
    const { components } = await fetchDescription();
    const fields = Object.entries(components.schemas).flatMap(([name, { properties }]) =>
      Object.entries(properties).map(([field, { type, $ref, allOf, oneOf }]) => ({
        field: `${name}.${field}`,
        type: type ?? $ref ?? allOf ?? oneOf,
      })),
    );
    expect(fields.length).toBeGreaterThan(80);
    expect(fields.filter(({ type }) => type === undefined || type === 'Object' || type === 'Array')).toEqual([]);
  });
});

describe('the page at /docs', () => {
  it('comes from here in all its parts', async () => {
    const page = await (await fetch(`${edge.url}/docs`)).text();
    const parts = [...page.matchAll(/(?:src|href)="\.(\/[^"]+)"/g)].map(([, path]) => path as string);
    expect(parts).toHaveLength(4);
    for (const path of parts) {
      const response = await fetch(edge.url + path);
      expect([path, response.status]).toEqual([path, 200]);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(50);
    }
    expect(page).not.toMatch(/https?:/);
    expect((await fetch(`${edge.url}/docs/`)).url).toBe(`${edge.url}/docs`);
  });
});
