import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiQuery } from '@nestjs/swagger';
import type { AsOf, AsOfView, When } from '@palimpsest/application';
import { AtLeastQuery, atLeast } from './at-least';
import type { Json } from './json';
import { ApiDecimal, ApiMinRevision } from './openapi';
import { invalid } from './problem';
import { IsText, Optional } from './rules';

const count = /^(?:(revision|position):)?(\d{1,18})$/;
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** A query of what is, or of what was known then. */
export class WhenQuery extends AtLeastQuery {
  @Optional()
  @IsText()
  readonly asOf?: string;
}

export class AsOfBody implements Json<AsOfView> {
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
  @ApiProperty({ description: 'When it occurred, UTC' }) readonly occurredAt!: string;
}

export const ApiWhen = (): MethodDecorator =>
  applyDecorators(
    ApiMinRevision(),
    ApiQuery({
      name: 'asOf',
      required: false,
      schema: { type: 'string' },
      examples: {
        none: { summary: 'The present' },
        revision: { value: '12', summary: 'As of a revision; revision:12 is the same' },
        position: { value: 'position:345', summary: 'As of a position of the log' },
        instant: { value: '2026-11-30T06:44:04Z', summary: 'Up to the first event that occurred later' },
      },
      description:
        'As it was known then. Beyond the end: the present, and `asOf` in the answer is the last event there is. Before the start: 404 `before_start`.',
    }),
  );

/** `asOf` is read from the log, which is never behind: with it there is nothing to wait for. */
export function whenOf({ asOf, ...query }: WhenQuery): When {
  if (asOf === undefined) return atLeast(query);
  if (query.minRevision !== undefined) throw invalid('Name asOf or minRevision: asOf is answered from the log itself.');
  return { asOf: parsed(asOf) };
}

function parsed(text: string): AsOf {
  const [, of = 'revision', number] = count.exec(text) ?? [];
  if (number !== undefined) return of === 'revision' ? { revision: BigInt(number) } : { position: BigInt(number) };
  const at = instant.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(at)) return { instant: at };
  throw invalid(
    'Query field asOf must be a revision (12), a position (position:345), or an instant with its zone (2026-11-30T06:44:04Z; a + is sent as %2B).',
  );
}
