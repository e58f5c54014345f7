import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type {
  AnswerStatus,
  BubbleView,
  ClearedView,
  CompactionView,
  ConversationView,
  CurrentConversationView,
  DeletedView,
  HeadView,
  Page,
  SourceView,
  TranscriptView,
  TreeNodeView,
  TreeView,
} from '@palimpsest/application';
import { IsIn, IsInt, Matches, Max, Min } from 'class-validator';
import { AsOfBody, WhenQuery } from '../http/as-of';
import { AtLeastQuery } from '../http/at-least';
import type { Json } from '../http/json';
import { ApiDecimal, ApiId } from '../http/openapi';
import { IsDecimal, IsName, IsOpaque, IsReference, IsZone, Optional } from '../http/rules';
import { UsageBody } from '../http/usage.dto';
import { TurnErrorBody, UnknownOutcomeBody } from '../turns/turns.dto';

const whenBusy = ['refuse', 'queue'] as const;

export class StartConversationBody {
  @ApiProperty({ type: 'string', format: 'uuid' })
  @IsReference()
  readonly assistantId!: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, description: 'The assistant’s version; by default the newest' })
  @Optional()
  @IsInt()
  @Min(1)
  @Max(2_147_483_647)
  readonly version?: number;

  @ApiPropertyOptional({ maxLength: 500, description: 'Your own id of the person; left out, an anonymous one' })
  @Optional()
  @IsName(500)
  readonly subjectId?: string;

  @ApiPropertyOptional({ example: 'Asia/Seoul', description: 'IANA time zone; by default the assistant’s' })
  @Optional()
  @IsZone()
  readonly zone?: string;

  @ApiPropertyOptional({ enum: whenBusy, default: 'refuse' })
  @Optional()
  @IsIn(whenBusy)
  readonly whenBusy?: (typeof whenBusy)[number];
}

export class MoveHeadBody {
  @ApiProperty({ description: 'A node of the branch to go to' })
  @IsReference()
  readonly nodeId!: string;
}

export class PageQuery {
  @Optional()
  @Matches(/^(?:[1-9]\d?|1\d\d|200)$/, { message: '$property must be a number from 1 to 200' })
  readonly limit?: string;

  @Optional()
  @IsOpaque()
  readonly cursor?: string;

  @Optional()
  @IsDecimal()
  readonly minPosition?: string;
}

export class SourceBody implements Json<SourceView> {
  @ApiId() readonly conversationId!: string;
  @ApiId() readonly nodeId!: string;
}

export class ConversationBody implements Json<ConversationView> {
  @ApiId() readonly conversationId!: string;
  @ApiId() readonly assistantId!: string;
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly version!: number;
  @ApiProperty({ example: 'Asia/Seoul' }) readonly zone!: string;
  @ApiPropertyOptional({ type: SourceBody, description: 'The node of another conversation from which this one grows' })
  readonly source?: SourceBody;
  @ApiId({ nullable: true, description: 'A node; null before the first turn' }) readonly head!: string | null;
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
  @ApiProperty({ format: 'date-time' }) readonly startedAt!: string;
}

const runningStatuses = ['running', 'awaiting_approval'] as const;

export class RunningTurnBody implements Json<NonNullable<CurrentConversationView['running']>> {
  @ApiId() readonly turnId!: string;
  @ApiProperty({ enum: runningStatuses }) readonly status!: (typeof runningStatuses)[number];
}

export class CurrentConversationBody extends ConversationBody implements Json<CurrentConversationView> {
  @ApiProperty({ type: RunningTurnBody, nullable: true, description: 'The turn to follow, or to cancel' })
  readonly running!: RunningTurnBody | null;
  @ApiProperty({ type: [String], description: 'Turns whose questions wait, in order' }) readonly queued!: string[];
}

export class ConversationPageBody implements Json<Page<ConversationView>> {
  @ApiProperty({ type: [ConversationBody] }) readonly items!: ConversationBody[];
  @ApiProperty({ type: 'string', nullable: true, description: 'The next page’s cursor' }) readonly next!: string | null;
}

export class HeadBody implements Json<HeadView> {
  @ApiId() readonly conversationId!: string;
  @ApiId() readonly head!: string;
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
}

export class TreeNodeBody implements Json<TreeNodeView> {
  @ApiId() readonly id!: string;
  @ApiPropertyOptional({ type: 'string', description: 'Of another conversation, from which this one grows' })
  readonly conversationId?: string;
  @ApiId({ nullable: true }) readonly parent!: string | null;
  @ApiProperty({ example: 'turn' }) readonly kind!: string;
  @ApiProperty({ example: 'succeeded' }) readonly status!: string;
  @ApiId({ nullable: true, description: 'Null outside a turn' }) readonly turnId!: string | null;
  @ApiProperty({ example: 'simulated' }) readonly provider!: string;
  @ApiProperty() readonly model!: string;
  @ApiProperty({ type: UsageBody, nullable: true }) readonly usage!: UsageBody | null;
  @ApiPropertyOptional({ type: 'string' }) readonly origin?: string;
  @ApiPropertyOptional({ type: 'string', description: 'Why it failed' }) readonly reason?: string;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'How often the conversation had been cleared before it' })
  readonly epoch!: number;
}

export class TreeBody implements Json<TreeView> {
  @ApiId() readonly conversationId!: string;
  @ApiPropertyOptional({ type: SourceBody }) readonly source?: SourceBody;
  @ApiId({ nullable: true }) readonly head!: string | null;
  @ApiDecimal() readonly revision!: string;
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'Nodes of earlier epochs can be read and replayed; nothing grows from them',
  })
  readonly epoch!: number;
  @ApiProperty({ type: [TreeNodeBody] }) readonly nodes!: TreeNodeBody[];
  @ApiPropertyOptional({ type: AsOfBody, description: 'Of an answer as it was then' }) readonly asOf?: AsOfBody;
}

const compactionReasons = ['topic'] as const;

export class CompactBody {
  @ApiPropertyOptional({ enum: compactionReasons, description: 'Another topic begins' })
  @Optional()
  @IsIn(compactionReasons)
  readonly reason?: (typeof compactionReasons)[number];
}

export class CompactionErrorBody implements Json<NonNullable<CompactionView['error']>> {
  @ApiProperty({ example: 'unusable_answer' }) readonly code!: string;
  @ApiProperty() readonly detail!: string;
}

export class CompactionBody implements Json<CompactionView> {
  @ApiId() readonly nodeId!: string;
  @ApiProperty({ enum: ['succeeded', 'failed'], description: 'One that failed changed nothing' })
  readonly status!: 'succeeded' | 'failed';
  @ApiPropertyOptional({ type: CompactionErrorBody }) readonly error?: CompactionErrorBody;
  @ApiId({ nullable: true }) readonly head!: string | null;
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
}

export class DeleteQuery {
  @Optional()
  @IsIn(['true', 'false'], { message: '$property must be true or false' })
  readonly cascade?: 'true' | 'false';
}

export class ExportQuery extends AtLeastQuery {
  @Optional()
  @IsIn(['head'], { message: '$property must be head' })
  readonly path?: 'head';

  @Optional()
  @IsReference()
  readonly node?: string;
}

export const transcriptFormats = ['json', 'markdown'] as const;

export class TranscriptQuery extends WhenQuery {
  @Optional()
  @IsIn(transcriptFormats, { message: '$property must be json or markdown' })
  readonly format?: (typeof transcriptFormats)[number];
}

export class ClearedBody implements Json<ClearedView> {
  @ApiId() readonly conversationId!: string;
  @ApiId({ nullable: true, description: 'There is none until the next turn' }) readonly head!: null;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'How often it was cleared' }) readonly epoch!: number;
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
}

const copies = ['write_ahead_log', 'backups'] as const;

export class DeletedBody implements Json<DeletedView> {
  @ApiId() readonly conversationId!: string;
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
  @ApiProperty({
    enum: copies,
    isArray: true,
    description:
      'The key is destroyed. Copies of it, wrapped, are left here until these are gone, or the installation’s key was rotated and the old one destroyed',
  })
  readonly pending!: (typeof copies)[number][];
}

export class BranchBody implements Json<BubbleView['branch']> {
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly index!: number;
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly count!: number;
  @ApiProperty({
    type: [String],
    description: 'The first node of each turn that was asked here, in the order of asking',
  })
  readonly siblings!: string[];
}

export class BubbleBody implements Json<BubbleView> {
  @ApiId() readonly id!: string;
  @ApiProperty({ enum: ['user', 'assistant'] }) readonly role!: 'user' | 'assistant';
  @ApiProperty({ description: 'Of an answer that failed or was cancelled: what had arrived, if anything' })
  readonly text!: string;
  @ApiPropertyOptional({ enum: ['completed', 'failed', 'cancelled'], description: 'Of an answer' })
  readonly status?: AnswerStatus;
  @ApiPropertyOptional({ type: TurnErrorBody, description: 'Why it failed' }) readonly error?: TurnErrorBody;
  @ApiId() readonly nodeId!: string;
  @ApiId() readonly turnId!: string;
  @ApiPropertyOptional({ type: 'array', items: {}, description: 'For the person alone: no model sees it' })
  readonly display?: unknown[];
  @ApiPropertyOptional({ type: [UnknownOutcomeBody], description: 'Write calls of the turn that may have happened' })
  readonly unknownOutcomes?: UnknownOutcomeBody[];
  @ApiProperty({ type: BranchBody }) readonly branch!: BranchBody;
}

export class TranscriptBody implements Json<TranscriptView> {
  @ApiId({ nullable: true }) readonly head!: string | null;
  @ApiProperty({ type: [BubbleBody] }) readonly bubbles!: BubbleBody[];
  @ApiPropertyOptional({ type: AsOfBody, description: 'Of an answer as it was then' }) readonly asOf?: AsOfBody;
}
