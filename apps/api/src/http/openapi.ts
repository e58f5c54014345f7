import { applyDecorators } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  ApiHeader,
  ApiProperty,
  ApiQuery,
  ApiResponse,
  DocumentBuilder,
  getSchemaPath,
  SwaggerModule,
} from '@nestjs/swagger';
import { type OwnQueries, ownQueryPaths } from '../projections/own-query-docs';
import { serveDocsPage } from './docs-page';
import { problemKinds, type ProblemCode } from './problem-codes';

export class ProblemBody {
  @ApiProperty({ example: 'urn:palimpsest:problem:turn_running' }) readonly type!: string;
  @ApiProperty({ description: 'The same for every problem of this code' }) readonly title!: string;
  @ApiProperty({ type: 'integer' }) readonly status!: number;
  @ApiProperty({ enum: Object.keys(problemKinds), description: 'Stable; decide by it' }) readonly code!: string;
  @ApiProperty({ description: 'What happened, why, and what to do next' }) readonly detail!: string;
}

/** What any route under /v1 may answer. */
const everywhere: readonly ProblemCode[] = [
  'validation_failed',
  'unauthorized',
  'forbidden',
  'internal_error',
  'key_lost',
  'log_damaged',
  'shutting_down',
];

/** What any route that writes may answer too. */
export const whileWriting = [
  'idempotency_conflict',
  'outcome_unknown',
  'payload_too_large',
  'revision_conflict',
  'unsupported_media_type',
] as const satisfies readonly ProblemCode[];

/** The problems that a route answers with, by status. */
export function ApiProblems(...codes: readonly ProblemCode[]): MethodDecorator {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set([...everywhere, ...codes])) {
    const { status } = problemKinds[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const responses = [...byStatus].map(([status, which]) =>
    ApiResponse({
      status,
      description: which.map((code) => `\`${code}\`: ${problemKinds[code].title}`).join('; '),
      content: { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemBody) } } },
    }),
  );
  return applyDecorators(...responses);
}

export const ApiIdempotencyKey = (
  description = 'The same key and body at the same path: the same result, and no second run. Printable ASCII.',
): MethodDecorator =>
  ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  });

export const ApiMinRevision = (): MethodDecorator =>
  ApiQuery({
    name: 'minRevision',
    required: false,
    description: 'Waits, bounded, until the answer holds this revision of the conversation; else 503 `behind`.',
    schema: { type: 'string', pattern: '^\\d{1,18}$' },
  });

/** `limit` and `cursor`. */
export const ApiPart = (limit = { maximum: 200, default: 50 }): MethodDecorator =>
  applyDecorators(
    ApiQuery({ name: 'limit', required: false, schema: { type: 'integer', minimum: 1, ...limit } }),
    ApiQuery({
      name: 'cursor',
      required: false,
      schema: { type: 'string' },
      description: '`next` of the page before',
    }),
  );

export const ApiMinPosition = (): MethodDecorator =>
  ApiQuery({
    name: 'minPosition',
    required: false,
    description: 'Waits, bounded, until the read model has reached this position; else 503 `behind`.',
    schema: { type: 'string', pattern: '^\\d{1,18}$' },
  });

export const ApiPage = (): MethodDecorator => applyDecorators(ApiPart(), ApiMinPosition());

/** A revision or a position: bigint inside, a decimal string in JSON. */
export const ApiDecimal = (): PropertyDecorator => ApiProperty({ type: 'string', pattern: '^\\d+$', example: '17' });

export const ApiId = (options: { nullable?: boolean; description?: string } = {}): PropertyDecorator =>
  ApiProperty({ type: 'string', ...options });

/** The description at /openapi.json, and a page made from it at /docs, which loads nothing from elsewhere. */
export function serveDescription(app: NestFastifyApplication, queries: OwnQueries = []): void {
  const about = new DocumentBuilder()
    .setTitle('Palimpsest')
    .setDescription('A conversation backend for audited enterprise assistants')
    .setVersion('1')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'An API key' })
    .build();
  const document = SwaggerModule.createDocument(app, about, {
    extraModels: [ProblemBody],
    operationIdFactory: (_controller, method) => method,
  });
  Object.assign(document.paths, ownQueryPaths(queries));
  const text = JSON.stringify(document);
  const fastify = app.getHttpAdapter().getInstance();
  fastify.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text));
  serveDocsPage(fastify);
}
