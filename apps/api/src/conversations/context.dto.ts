import { ApiProperty } from '@nestjs/swagger';
import type { ContextView } from '@palimpsest/application';
import type { Json } from '../http/json';
import { ApiId } from '../http/openapi';

const count = { type: 'integer' } as const;
type Thresholds = ContextView['thresholds'];

export class ContextModelBody implements Json<ContextView['model']> {
  @ApiProperty() readonly provider!: string;
  @ApiProperty() readonly name!: string;
}

export class ContextTokensBody implements Json<ContextView['tokens']> {
  @ApiProperty({ ...count, description: 'System prompt, tools and the frame' }) readonly fixed!: number;
  @ApiProperty(count) readonly summaries!: number;
  @ApiProperty(count) readonly window!: number;
  @ApiProperty(count) readonly state!: number;
  @ApiProperty(count) readonly total!: number;
}

export class ContextWindowBody implements Json<ContextView['window']> {
  @ApiProperty({ ...count, description: 'Questions and final answers that stand there word by word' })
  readonly messages!: number;
  @ApiProperty(count) readonly turns!: number;
}

export class ContextSegmentBody implements Json<ContextView['segments'][number]> {
  @ApiId() readonly nodeId!: string;
  @ApiProperty({ enum: ['summary', 'compaction'] }) readonly kind!: 'summary' | 'compaction';
  @ApiProperty(count) readonly tokens!: number;
}

export class ContextFoldBody implements Json<ContextView['folds'][number]> {
  @ApiId() readonly toolCallId!: string;
  @ApiProperty() readonly handle!: string;
  @ApiId({ description: 'From whose request on it is folded' }) readonly nodeId!: string;
}

export class PressureBody implements Json<NonNullable<Thresholds['pressure']>> {
  @ApiProperty({ example: 0.7 }) readonly above!: number;
  @ApiProperty({ example: 0.4 }) readonly below!: number;
  @ApiProperty(count) readonly tokensLeft!: number;
}

export class WindowBoundsBody implements Json<NonNullable<Thresholds['window']>> {
  @ApiProperty({ ...count, example: 24 }) readonly messages!: number;
  @ApiProperty({ ...count, example: 12 }) readonly keep!: number;
  @ApiProperty(count) readonly messagesLeft!: number;
}

export class ThresholdsBody implements Json<Thresholds> {
  @ApiProperty(count) readonly inputCap!: number;
  @ApiProperty({ type: PressureBody, nullable: true }) readonly pressure!: PressureBody | null;
  @ApiProperty({ type: WindowBoundsBody, nullable: true }) readonly window!: WindowBoundsBody | null;
  @ApiProperty({ ...count, nullable: true }) readonly everyTurns!: number | null;
  @ApiProperty({ type: 'number', nullable: true }) readonly compactionAt!: number | null;
}

export class ContextBody implements Json<ContextView> {
  @ApiId() readonly conversationId!: string;
  @ApiId({ nullable: true }) readonly head!: string | null;
  @ApiProperty(count) readonly assistantVersion!: number;
  @ApiProperty({ type: ContextModelBody }) readonly model!: ContextModelBody;
  @ApiProperty({ type: ContextTokensBody, description: 'By estimate' }) readonly tokens!: ContextTokensBody;
  @ApiProperty({ type: ContextWindowBody }) readonly window!: ContextWindowBody;
  @ApiProperty({ type: [ContextSegmentBody], description: 'What stands for earlier turns, in order' })
  readonly segments!: ContextSegmentBody[];
  @ApiProperty({ type: [ContextFoldBody] }) readonly folds!: ContextFoldBody[];
  @ApiProperty({ type: 'string', nullable: true, description: 'The block, before the next question is read' })
  readonly state!: string | null;
  @ApiProperty({ type: ThresholdsBody, description: 'Null: nothing depends on it' })
  readonly thresholds!: ThresholdsBody;
}
