import type { OpenAPIObject } from '@nestjs/swagger';
import type { OwnProjections } from '@palimpsest/application';

export type OwnQueries = OwnProjections['queries'];

const schemas = {
  ...{ text: { type: 'string' }, uuid: { type: 'string', format: 'uuid' }, integer: { type: 'integer' } },
  ...{ number: { type: 'number' }, boolean: { type: 'boolean' }, date: { type: 'string', format: 'date' } },
  timestamp: { type: 'string', format: 'date-time' },
} as const;

const minPosition = {
  name: 'minPosition',
  in: 'query',
  required: false,
  description: 'Waits, bounded, until the read model has reached this position; else 503 `behind`.',
  schema: { type: 'string', pattern: '^\\d{1,18}$' },
} as const;

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/ProblemBody' } } },
});

/** The paths of the operator's own queries. */
export function ownQueryPaths(queries: OwnQueries): OpenAPIObject['paths'] {
  return Object.fromEntries(
    queries.map(({ name, query: { description, parameters = {} } }) => [
      `/v1/projections/${name}/query`,
      {
        get: {
          operationId: `query-${name}`,
          tags: ['projections'],
          summary: description ?? `What the projection ${name} holds of the caller's tenant`,
          security: [{ bearer: [] }],
          parameters: [
            ...Object.entries(parameters).map(([parameter, { type, required = false, description: about }]) => ({
              ...{ name: parameter, in: 'query' as const, required, schema: schemas[type] },
              ...(about !== undefined && { description: about }),
            })),
            minPosition,
          ],
          responses: {
            200: {
              description: 'Rows; `cut` where there are more than 1000',
              content: {
                'application/json': {
                  schema: {
                    type: 'object',
                    required: ['items', 'next', 'cut'],
                    properties: {
                      items: { type: 'array', items: { type: 'object', additionalProperties: true } },
                      next: { type: 'string', nullable: true },
                      cut: { type: 'boolean' },
                    },
                  },
                },
              },
            },
            ...{ 400: problem('`validation_failed`'), 401: problem('`unauthorized`'), 403: problem('`forbidden`') },
            ...{
              500: problem('`internal_error`, `query_failed`'),
              503: problem('`behind`, `key_lost`, `shutting_down`'),
            },
          },
        },
      },
    ]),
  );
}
