import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ApprovalView, Page, TurnStatus, TurnView, UnknownOutcomeView } from '@palimpsest/application';
import { IsIn, IsInt, Matches, Max, Min } from 'class-validator';
import type { Json } from '../http/json';
import { ApiDecimal, ApiId } from '../http/openapi';
import { IsName, IsReference, IsText, Optional } from '../http/rules';
import { UsageBody } from '../http/usage.dto';

export class AskBody {
  @ApiProperty({ description: 'The question', example: 'Who were last month’s ten largest customers?' })
  @IsText()
  readonly text!: string;

  @ApiPropertyOptional({ description: 'The head that you saw; 409 if it is no longer the head' })
  @Optional()
  @IsReference()
  readonly parent?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description:
      'The version of the assistant that answers this turn; left out, the conversation’s. An edit or a regeneration takes that of the turn it replaces',
  })
  @Optional()
  @IsInt()
  @Min(1)
  @Max(2_147_483_647)
  readonly assistantVersion?: number;
}

export class EditBody {
  @ApiProperty({ description: 'The question in other words' })
  @IsText()
  readonly text!: string;
}

const decisions = ['approve', 'reject'] as const;

export class DecideBody {
  @ApiProperty({ enum: decisions })
  @IsIn(decisions)
  readonly decision!: (typeof decisions)[number];

  @ApiProperty({ description: 'Of the arguments that the person saw' })
  @IsName(200)
  readonly argumentsDigest!: string;
}

export class ApprovalBody implements Json<ApprovalView> {
  @ApiId() readonly conversationId!: string;
  @ApiId() readonly turnId!: string;
  @ApiId() readonly nodeId!: string;
  @ApiId() readonly toolCallId!: string;
  @ApiProperty() readonly tool!: string;
  @ApiProperty({ enum: ['read', 'write'] }) readonly effect!: 'read' | 'write';
  @ApiProperty({ description: 'JSON text, as the model wrote it: what will run' }) readonly arguments!: string;
  @ApiProperty({ description: 'What a decision names' }) readonly argumentsDigest!: string;
  @ApiProperty({ format: 'date-time' }) readonly expiresAt!: string;
  @ApiDecimal() readonly requestedPosition!: string;
}

export class ApprovalPageBody implements Json<Page<ApprovalView>> {
  @ApiProperty({ type: [ApprovalBody] }) readonly items!: ApprovalBody[];
  @ApiProperty({ type: 'string', nullable: true, description: 'The next page’s cursor' }) readonly next!: string | null;
}

const eventId = /^\d{1,18}\.\d{1,9}$/;

export const isEventId = (text: string): boolean => eventId.test(text);

export class FollowQuery {
  @Optional()
  @Matches(eventId, { message: '$property must be the id of a frame: <revision>.<n>' })
  readonly lastEventId?: string;
}

const statuses = [
  'queued',
  'running',
  'awaiting_approval',
  'completed',
  'failed',
  'cancelled',
] as const satisfies readonly TurnStatus[];

export class TurnErrorBody {
  @ApiProperty() readonly code!: string;
  @ApiProperty() readonly detail!: string;
}

export class UnknownOutcomeBody implements Json<UnknownOutcomeView> {
  @ApiId() readonly toolCallId!: string;
  @ApiProperty({ description: 'The tool’s name' }) readonly name!: string;
}

export class TurnBody implements Json<TurnView> {
  @ApiId() readonly turnId!: string;
  @ApiProperty({ enum: statuses }) readonly status!: TurnStatus;
  @ApiProperty({ type: 'string', nullable: true }) readonly answer!: string | null;
  @ApiPropertyOptional({
    description: 'Why the model stopped, in its provider’s own word: `stop`, `end_turn`, `length`, ...',
  })
  readonly stopReason?: string;
  @ApiPropertyOptional({ type: TurnErrorBody }) readonly error?: TurnErrorBody;
  @ApiPropertyOptional({ type: [String], description: 'Tool calls that were started and whose outcome is not known' })
  readonly openCalls?: string[];
  @ApiPropertyOptional({
    type: [UnknownOutcomeBody],
    description: 'Write calls that were started and may have happened; none is made again by itself',
  })
  readonly unknownOutcomes?: UnknownOutcomeBody[];
  @ApiId({ nullable: true }) readonly head!: string | null;
  @ApiProperty({ type: [String] }) readonly nodes!: string[];
  @ApiProperty({ type: UsageBody }) readonly usage!: UsageBody;
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
}
