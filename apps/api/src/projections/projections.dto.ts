import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type {
  DroppedView,
  GenerationView,
  ParkedView,
  ProjectionView,
  RebuildView,
  RetriedView,
} from '@palimpsest/application';
import type { Json } from '../http/json';
import { ApiDecimal, ApiId } from '../http/openapi';
import { IsReference, Optional } from '../http/rules';

export class LagBody implements Json<ProjectionView['lag']> {
  @ApiProperty({ type: 'integer', description: 'Events that it has not seen; 1000 stands for more, too' })
  readonly events!: number;
  @ApiProperty({ description: 'Age of the oldest of them' }) readonly seconds!: number;
}

export class LastErrorBody implements Json<NonNullable<ProjectionView['lastError']>> {
  @ApiProperty() readonly reason!: string;
  @ApiProperty({ format: 'date-time' }) readonly at!: string;
}

export class ProgressBody implements Json<NonNullable<GenerationView['progress']>> {
  @ApiProperty({ minimum: 0, maximum: 1 }) readonly done!: number;
  @ApiProperty({ type: 'number', nullable: true }) readonly secondsLeft!: number | null;
}

const states = ['building', 'live', 'old'] as const;

export class GenerationBody implements Json<GenerationView> {
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly generation!: number;
  @ApiProperty({ enum: states, description: 'Queries read the one that is live' })
  readonly state!: (typeof states)[number];
  @ApiProperty({ type: 'string', pattern: '^(-1|\\d+)$' }) readonly position!: string;
  @ApiDecimal() readonly events!: string;
  @ApiProperty({ description: 'Events per second, of late' }) readonly rate!: number;
  @ApiProperty({ format: 'date-time' }) readonly beganAt!: string;
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true }) readonly liveSince!: string | null;
  @ApiProperty({ type: 'integer', minimum: 0 }) readonly parkedStreams!: number;
  @ApiProperty({ type: LastErrorBody, nullable: true }) readonly lastError!: LastErrorBody | null;
  @ApiPropertyOptional({ type: ProgressBody, description: 'While it is built' }) readonly progress?: ProgressBody;
}

export class ParkedBody implements Json<ParkedView> {
  @ApiId() readonly stream!: string;
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
  @ApiId() readonly eventId!: string;
  @ApiProperty({ example: 'CallSucceeded' }) readonly type!: string;
  @ApiProperty({ description: 'What went wrong and where' }) readonly reason!: string;
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly attempts!: number;
  @ApiProperty({ format: 'date-time' }) readonly parkedAt!: string;
  @ApiProperty({ description: 'It is tried again in a moment' }) readonly retrying!: boolean;
}

export class ProjectionBody implements Json<ProjectionView> {
  @ApiProperty({ example: 'conversation-tree' }) readonly name!: string;
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly version!: number;
  @ApiProperty({ type: 'string', pattern: '^(-1|\\d+)$', description: 'Of the generation that queries read' })
  readonly position!: string;
  @ApiProperty({ type: LagBody }) readonly lag!: LagBody;
  @ApiProperty({ description: 'Events per second, of late' }) readonly rate!: number;
  @ApiProperty({ type: 'string', nullable: true, example: 'host-1/4711', description: 'The process that writes' })
  readonly writer!: string | null;
  @ApiProperty({ type: [String], description: 'Processes that would take over' }) readonly standby!: string[];
  @ApiProperty({ type: LastErrorBody, nullable: true }) readonly lastError!: LastErrorBody | null;
  @ApiProperty({ type: [GenerationBody], description: 'The newest first' }) readonly generations!: GenerationBody[];
  @ApiProperty({
    type: [ParkedBody],
    description: 'Conversations that it left at an event which it could not take; at most 100',
  })
  readonly parked!: ParkedBody[];
}

export class ProjectionPageBody {
  @ApiProperty({ type: [ProjectionBody] }) readonly items!: ProjectionBody[];
  @ApiProperty({ type: 'string', nullable: true }) readonly next!: null;
}

export class RebuildBody implements Json<RebuildView> {
  @ApiProperty() readonly name!: string;
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly version!: number;
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly generation!: number;
}

export class DroppedGenerationBody implements Json<DroppedView> {
  @ApiProperty() readonly name!: string;
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly generation!: number;
}

export class RetryBody {
  @ApiPropertyOptional({ type: 'string', format: 'uuid', description: 'By default all that are parked' })
  @Optional()
  @IsReference()
  readonly conversationId?: string;
}

export class RetriedBody implements Json<RetriedView> {
  @ApiProperty() readonly name!: string;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'How many are tried again, in a moment' })
  readonly streams!: number;
}
