import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type {
  BacktestPageView,
  ChangedRequestView,
  RequestSizesView,
  WouldSummariseView,
} from '@palimpsest/application';
import { Type } from 'class-transformer';
import { IsInt, Max, Min, ValidateNested } from 'class-validator';
import { ContextFields } from '../assistants/assistants.dto';
import type { Json } from '../http/json';
import { ApiDecimal, ApiId } from '../http/openapi';
import { IsDecimal, IsNested, IsReference, Optional } from '../http/rules';
import { ChangeSumsBody, ItemDifferenceBody } from '../nodes/diff.dto';

const position = { type: 'string', pattern: '^\\d{1,18}$' } as const;

export class BacktestBody {
  @ApiProperty({ type: 'string', format: 'uuid' })
  @IsReference()
  readonly assistantId!: string;

  @ApiPropertyOptional({ ...position, description: 'Requests from this position of the log on; what was decided before stands' }) // prettier-ignore
  @Optional()
  @IsDecimal()
  readonly from?: string;

  @ApiPropertyOptional({
    type: ContextFields,
    description: 'As an assistant’s `context`; left out, what each version kept to, so that only changes of this program show',
  }) // prettier-ignore
  @Optional()
  @IsNested()
  @ValidateNested()
  @Type(() => ContextFields)
  readonly policy?: ContextFields;

  @ApiPropertyOptional({ ...position, description: '`next` of the page before' })
  @Optional()
  @IsDecimal()
  readonly cursor?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: 200, default: 20, description: 'Changed requests to be shown' }) // prettier-ignore
  @Optional()
  @IsInt()
  @Min(0)
  @Max(200)
  readonly limit?: number;
}

const ApiCount = (description?: string): PropertyDecorator =>
  ApiProperty({ type: 'integer', minimum: 0, ...(description !== undefined && { description }) });

export class RequestSizesBody implements Json<RequestSizesView> {
  @ApiCount() readonly bytes!: number;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Estimated; null where the log does not say' })
  readonly tokens!: number | null;
}

export class WouldSummariseBody implements Json<WouldSummariseView> {
  @ApiId({ description: 'The last node that the summary would cover' }) readonly upTo!: string;
  @ApiProperty({ enum: ['window', 'pressure', 'budget', 'turns'] }) readonly reason!: string;
  @ApiCount() readonly turns!: number;
  @ApiCount('Of these turns, word by word') readonly tokens!: number;
  @ApiCount('Tokens, where the summary is as long as it may be') readonly saves!: number;
}

export class ChangedRequestBody implements Json<ChangedRequestView> {
  @ApiId() readonly conversationId!: string;
  @ApiId() readonly nodeId!: string;
  @ApiId() readonly turnId!: string;
  @ApiDecimal() readonly position!: string;
  @ApiProperty({ type: RequestSizesBody }) readonly before!: RequestSizesBody;
  @ApiProperty({ type: RequestSizesBody }) readonly after!: RequestSizesBody;
  @ApiProperty({ type: [WouldSummariseBody] }) readonly wouldSummarise!: WouldSummariseBody[];
  @ApiProperty({ description: 'It would not have fitted the model’s input cap' }) readonly tooLarge!: boolean;
  @ApiProperty({ type: ChangeSumsBody }) readonly sums!: ChangeSumsBody;
  @ApiProperty({ type: [ItemDifferenceBody], description: 'The first ones that are not the same' })
  readonly differences!: ItemDifferenceBody[];
}

class BacktestBytesBody implements Json<BacktestPageView['bytes']> {
  @ApiCount() readonly before!: number;
  @ApiCount() readonly after!: number;
}

class BacktestTokensBody implements Json<BacktestPageView['tokens']> {
  @ApiCount() readonly before!: number;
  @ApiCount() readonly after!: number;
  @ApiCount('What summaries that nobody made would take from `after`') readonly summariesWouldSave!: number;
}

class BacktestSkippedBody implements Json<BacktestPageView['skipped']> {
  @ApiCount('Requests that are not known') readonly imported!: number;
  @ApiCount('Requests to a provider that this installation has no key for') readonly noProvider!: number;
  @ApiCount('Conversations that can’t be read on') readonly unreadable!: number;
}

export class BacktestPageBody implements Json<BacktestPageView> {
  @ApiCount() readonly conversations!: number;
  @ApiCount('Conversations of later pages') readonly left!: number;
  @ApiCount() readonly requests!: number;
  @ApiCount() readonly changed!: number;
  @ApiCount('Requests whose change asks for a summary that nobody made') readonly wouldSummarise!: number;
  @ApiCount() readonly tooLarge!: number;
  @ApiProperty({ type: BacktestBytesBody }) readonly bytes!: BacktestBytesBody;
  @ApiProperty({ type: BacktestTokensBody }) readonly tokens!: BacktestTokensBody;
  @ApiProperty({ type: BacktestSkippedBody }) readonly skipped!: BacktestSkippedBody;
  @ApiProperty({ type: [ChangedRequestBody], description: 'Changed requests, as many as were asked for' })
  readonly items!: ChangedRequestBody[];
  @ApiProperty({ ...position, nullable: true }) readonly next!: string | null;
}
