import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import type { CoverageSum, CoverageTotals, CoverageView, CoveredItemView } from '@palimpsest/application';
import { Matches } from 'class-validator';
import { AtLeastQuery } from '../http/at-least';
import type { Json } from '../http/json';
import { ApiId } from '../http/openapi';
import { IsOpaque, Optional } from '../http/rules';

export class CoverageQuery extends AtLeastQuery {
  @Optional()
  @Matches(/^(?:[1-9]\d{0,2}|1000)$/, { message: '$property must be a number from 1 to 1000' })
  readonly limit?: string;

  @Optional()
  @IsOpaque()
  readonly cursor?: string;
}

type CoverageValue = CoveredItemView['coverage'];
type Of<K extends CoverageValue['kind']> = Json<Extract<CoverageValue, { kind: K }>>;

export class VerbatimBody implements Of<'verbatim'> {
  @ApiProperty({ enum: ['verbatim'] }) readonly kind!: 'verbatim';
}

export class FoldedBody implements Of<'folded'> {
  @ApiProperty({ enum: ['folded'] }) readonly kind!: 'folded';
  @ApiProperty({ description: 'With which the model reads the whole' }) readonly handle!: string;
}

export class SummarisedBody implements Of<'summarised'> {
  @ApiProperty({ enum: ['summarised'] }) readonly kind!: 'summarised';
  @ApiId({ description: 'The node whose summary stands for it' }) readonly segment!: string;
}

const tags = [
  ...(['preference', 'constraint', 'fact', 'decision'] as const),
  ...(['discarded', 'chit-chat', 'repeated confirmation'] as const),
] satisfies readonly Of<'filtered'>['tag'][];

export class FilteredBody implements Of<'filtered'> {
  @ApiProperty({ enum: ['filtered'] }) readonly kind!: 'filtered';
  @ApiProperty({ enum: tags, description: 'Why the summary that stands there was not told of it' })
  readonly tag!: Of<'filtered'>['tag'];
}

export class CompactedBody implements Of<'compacted'> {
  @ApiProperty({ enum: ['compacted'] }) readonly kind!: 'compacted';
  @ApiId({ description: 'The compaction that stands for it' }) readonly node!: string;
}

const reasons = [
  ...(['later', 'failed', 'outside_turn', 'empty', 'other_provider', 'not_sent_back'] as const),
  ...(['unpaired', 'no_summary', 'not_read', 'unexplained'] as const),
] satisfies readonly Of<'omitted'>['reason'][];

export class OmittedBody implements Of<'omitted'> {
  @ApiProperty({ enum: ['omitted'] }) readonly kind!: 'omitted';
  @ApiProperty({ enum: reasons, description: '`unexplained` is a fault of ours' })
  readonly reason!: Of<'omitted'>['reason'];
}

export const coverageBodies = [VerbatimBody, FoldedBody, SummarisedBody, FilteredBody, CompactedBody, OmittedBody];

export class CoveredItemBody implements Json<CoveredItemView> {
  @ApiId() readonly nodeId!: string;
  @ApiProperty({
    example: 'sent/0',
    description: 'Its place among the items of its node; `partial`: what had arrived of an answer that failed',
  })
  readonly item!: CoveredItemView['item'];
  @ApiProperty({ enum: ['user', 'assistant', 'reasoning', 'tool_call', 'tool_result'] })
  readonly type!: CoveredItemView['type'];
  @ApiPropertyOptional({ type: 'string', description: 'Of a call or a result' }) readonly toolCallId?: string;
  @ApiProperty({ oneOf: coverageBodies.map((type) => ({ $ref: getSchemaPath(type) })) })
  readonly coverage!: CoverageValue;
  @ApiProperty({ type: 'integer', description: 'Of its whole text' }) readonly bytes!: number;
}

export class CoverageSumBody implements Json<CoverageSum> {
  @ApiProperty({ type: 'integer' }) readonly items!: number;
  @ApiProperty({ type: 'integer' }) readonly bytes!: number;
}

export class CoverageTotalsBody implements Json<CoverageTotals> {
  @ApiProperty({ type: CoverageSumBody, description: 'Of all items; the others add up to it' })
  readonly lineage!: CoverageSumBody;
  @ApiProperty({ type: CoverageSumBody }) readonly verbatim!: CoverageSumBody;
  @ApiProperty({ type: CoverageSumBody }) readonly folded!: CoverageSumBody;
  @ApiProperty({ type: CoverageSumBody }) readonly summarised!: CoverageSumBody;
  @ApiProperty({ type: CoverageSumBody }) readonly filtered!: CoverageSumBody;
  @ApiProperty({ type: CoverageSumBody }) readonly compacted!: CoverageSumBody;
  @ApiProperty({ type: CoverageSumBody }) readonly omitted!: CoverageSumBody;
}

@ApiExtraModels(...coverageBodies)
export class CoverageBody implements Json<CoverageView> {
  @ApiId() readonly nodeId!: string;
  @ApiProperty({ type: CoverageTotalsBody, description: 'Of the whole lineage, whatever page this is' })
  readonly totals!: CoverageTotalsBody;
  @ApiProperty({ type: [CoveredItemBody], description: 'Every item from the true root to the node, in order' })
  readonly items!: CoveredItemBody[];
  @ApiProperty({ type: 'string', nullable: true, description: 'The next page’s cursor' }) readonly next!: string | null;
}
