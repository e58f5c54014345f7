import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type {
  PlaybookDiffView,
  PlaybookVersionsView,
  PlaybookVersionView,
  PlaybookView,
  TransformView,
} from '@palimpsest/application';
import { IsInt, IsObject, Matches, Max, Min } from 'class-validator';
import { SourceBody } from '../conversations/conversations.dto';
import type { Json } from '../http/json';
import { ApiDecimal, ApiId } from '../http/openapi';
import { Optional } from '../http/rules';

const aDocument = { type: 'object', additionalProperties: true } as const;
const MOST_VERSIONS = 2_147_483_647;

export class MakePlaybookBody {
  @ApiPropertyOptional({ ...aDocument, description: 'JSON Schema of the playbook; left out, the default one' })
  @Optional()
  @IsObject()
  readonly schema?: Record<string, unknown>;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, description: 'Drafts at most; by default as many as may be' })
  @Optional()
  @IsInt()
  @Min(1)
  @Max(1_000)
  readonly maxAttempts?: number;
}

export class AddPlaybookVersionBody {
  @ApiProperty({ ...aDocument, description: 'The whole playbook, edited' })
  @IsObject()
  readonly playbook!: Record<string, unknown>;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description: 'The version that was edited: if newer ones came, 409',
  })
  @Optional()
  @IsInt()
  @Min(1)
  @Max(MOST_VERSIONS)
  readonly basedOn?: number;
}

const aVersion = /^[1-9]\d{0,8}$/;
const versionRule = { message: '$property must be the number of a version' };

export class PlaybookQuery {
  @Optional()
  @Matches(aVersion, versionRule)
  readonly version?: string;
}

export class PlaybookDiffQuery {
  @Matches(aVersion, versionRule)
  readonly from!: string;

  @Matches(aVersion, versionRule)
  readonly to!: string;
}

export class AttemptBody implements Json<TransformView['attempts'][number]> {
  @ApiId() readonly nodeId!: string;
  @ApiProperty() readonly ok!: boolean;
  @ApiProperty({ type: [String], description: 'What was wrong with the draft, as the next attempt was told' })
  readonly errors!: string[];
}

export class TransformErrorBody {
  @ApiProperty({ example: 'no_sound_draft' }) readonly code!: string;
  @ApiProperty() readonly detail!: string;
}

export class TransformBody {
  @ApiProperty({ enum: ['created', 'failed'] }) readonly status!: 'created' | 'failed';
  @ApiId() readonly conversationId!: string;
  @ApiPropertyOptional({ type: 'string' }) readonly playbookId?: string;
  @ApiPropertyOptional({ type: 'integer' }) readonly version?: number;
  @ApiPropertyOptional(aDocument) readonly playbook?: Record<string, unknown>;
  @ApiPropertyOptional({ type: TransformErrorBody, description: 'Why there is no playbook' })
  readonly error?: TransformErrorBody;
  @ApiProperty({ type: [String], description: 'A node for each attempt' }) readonly nodes!: string[];
  @ApiProperty({ type: [AttemptBody] }) readonly attempts!: AttemptBody[];
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
}

export class PlaybookVersionBody implements Json<PlaybookVersionView> {
  @ApiId() readonly playbookId!: string;
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly version!: number;
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
  @ApiProperty({ format: 'date-time' }) readonly createdAt!: string;
}

export class PlaybookBody extends PlaybookVersionBody implements Json<PlaybookView> {
  @ApiProperty(aDocument) readonly playbook!: Record<string, never>;
  @ApiProperty({ ...aDocument, description: 'Of every version' }) readonly schema!: Record<string, never>;
  @ApiProperty({ type: SourceBody, description: 'The conversation that it was made from, and its head then' })
  readonly source!: SourceBody;
  @ApiId({ description: 'The node whose draft it is' }) readonly transform!: string;
  @ApiId() readonly assistantId!: string;
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly assistantVersion!: number;
}

export class PlaybookVersionsBody implements Json<PlaybookVersionsView> {
  @ApiProperty({ type: [PlaybookVersionBody] }) readonly items!: PlaybookVersionBody[];
}

export class DifferenceBody {
  @ApiProperty({ enum: ['added', 'removed', 'changed'] }) readonly op!: 'added' | 'removed' | 'changed';
  @ApiProperty({
    example: '/steps/1',
    description: 'JSON pointer into the later version; of what was removed, the earlier',
  })
  readonly pointer!: string;
  @ApiPropertyOptional({ type: 'string', description: 'Where a changed value stood, if elsewhere' })
  readonly from?: string;
  @ApiPropertyOptional({}) readonly before?: unknown;
  @ApiPropertyOptional({}) readonly after?: unknown;
}

export class PlaybookDiffBody implements Omit<Json<PlaybookDiffView>, 'differences'> {
  @ApiId() readonly playbookId!: string;
  @ApiProperty({ type: 'integer' }) readonly from!: number;
  @ApiProperty({ type: 'integer' }) readonly to!: number;
  @ApiProperty({ type: [DifferenceBody] }) readonly differences!: DifferenceBody[];
}
