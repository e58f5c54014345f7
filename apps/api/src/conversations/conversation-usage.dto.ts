import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { CallUsageView, CostView, TurnUsageView, UsageSum, UsageView } from '@palimpsest/application';
import { Matches } from 'class-validator';
import { AtLeastQuery } from '../http/at-least';
import type { Json } from '../http/json';
import { ApiId } from '../http/openapi';
import { IsOpaque, Optional } from '../http/rules';
import { UsageBody } from '../http/usage.dto';

export class UsageQuery extends AtLeastQuery {
  @Optional()
  @Matches(/^(?:[1-9]\d?|1\d\d|200)$/, { message: '$property must be a number from 1 to 200' })
  readonly limit?: string;

  @Optional()
  @IsOpaque()
  readonly cursor?: string;
}

export class CostBody implements Json<CostView> {
  @ApiProperty({ example: 'USD', description: 'ISO 4217' }) readonly currency!: string;
  @ApiProperty({ example: 0.0213, description: 'By the prices as they are known now' }) readonly amount!: number;
}

export class UsageSumBody implements Json<UsageSum> {
  @ApiProperty({ type: UsageBody, description: 'As the providers reported it; failed calls report none' })
  readonly usage!: UsageBody;
  @ApiProperty({ type: 'integer' }) readonly calls!: number;
  @ApiProperty({ type: 'integer' }) readonly failedCalls!: number;
  @ApiProperty({ type: 'integer', description: 'On the wire, those that ended a failed call included' })
  readonly failedAttempts!: number;
  @ApiProperty({ type: [CostBody], description: 'By currency' }) readonly cost!: CostBody[];
  @ApiProperty({ type: 'integer', description: 'Answered by a model of which no price is known' })
  readonly unpricedCalls!: number;
}

export class TurnUsageBody extends UsageSumBody implements Json<TurnUsageView> {
  @ApiId() readonly turnId!: string;
}

type CacheUsage = CallUsageView['cache'];
type BrokenBy = NonNullable<CacheUsage['brokenBy']>;

const breaks = [
  ...(['edit', 'clear', 'provider', 'model', 'assistant', 'compaction', 'other_call'] as const),
  ...(['summary', 'fold', 'state', 'unexplained'] as const),
] satisfies readonly BrokenBy['event'][];

export class BrokenByBody implements Json<BrokenBy> {
  @ApiProperty({ enum: breaks }) readonly event!: BrokenBy['event'];
  @ApiId({ description: 'Whose text changed, or, where all did, whose request this is' }) readonly nodeId!: string;
}

export class CacheUsageBody implements Json<CacheUsage> {
  @ApiProperty({ type: 'integer', description: 'Of the whole request' }) readonly bytes!: number;
  @ApiProperty({ type: 'integer', description: 'Shared, from the first byte on, with the request before on its path' })
  readonly prefixBytes!: number;
  @ApiPropertyOptional({ type: BrokenByBody, description: 'Where it does not begin with all of that request' })
  readonly brokenBy?: BrokenByBody;
  @ApiProperty({ type: 'integer', description: 'By the shared bytes and the cache rules of the model' })
  readonly predictedTokens!: number;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Billed as cached' })
  readonly billedTokens!: number | null;
}

export class CallUsageBody implements Json<CallUsageView> {
  @ApiId() readonly nodeId!: string;
  @ApiId({ nullable: true, description: 'Null outside a turn' }) readonly turnId!: string | null;
  @ApiProperty({ example: 'turn' }) readonly kind!: string;
  @ApiProperty({ example: 'succeeded' }) readonly status!: string;
  @ApiProperty({ example: 'simulated' }) readonly provider!: string;
  @ApiProperty() readonly model!: string;
  @ApiProperty({ type: UsageBody, nullable: true, description: 'Null until the provider answers' })
  readonly usage!: UsageBody | null;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Of the input, before the call' })
  readonly estimatedTokens!: number | null;
  @ApiProperty({ type: UsageBody, description: 'Of the conversation, up to and with this call' })
  readonly cumulative!: UsageBody;
  @ApiProperty({ type: CacheUsageBody }) readonly cache!: CacheUsageBody;
  @ApiProperty({ type: 'integer', description: 'Before the attempt that ended the call' })
  readonly failedAttempts!: number;
  @ApiProperty({ type: CostBody, nullable: true, description: 'Null without an answer, or without a price' })
  readonly cost!: CostBody | null;
}

export class ConversationUsageBody implements Json<UsageView> {
  @ApiProperty({ type: UsageSumBody, description: 'Of every call of the conversation' })
  readonly total!: UsageSumBody;
  @ApiProperty({ type: [TurnUsageBody], description: 'Those that made calls on this page, each with all of its calls' })
  readonly turns!: TurnUsageBody[];
  @ApiProperty({ type: [CallUsageBody], description: 'Calls on every branch, in the order in which they were made' })
  readonly items!: CallUsageBody[];
  @ApiProperty({ type: 'string', nullable: true, description: 'The next page’s cursor' }) readonly next!: string | null;
}
