import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath, OmitType } from '@nestjs/swagger';
import type { ItemView, NodeView, ReplayPartKind, ReplayView } from '@palimpsest/application';
import { TreeNodeBody } from '../conversations/conversations.dto';
import type { Json } from '../http/json';
import { ApiId } from '../http/openapi';

export class TextItemBody {
  @ApiProperty({ enum: ['user', 'assistant', 'reasoning'] }) readonly type!: 'user' | 'assistant' | 'reasoning';
  @ApiProperty() readonly text!: string;
}

export class ToolCallItemBody {
  @ApiProperty({ enum: ['tool_call'] }) readonly type!: 'tool_call';
  @ApiId() readonly toolCallId!: string;
  @ApiProperty() readonly name!: string;
  @ApiProperty({ description: 'As the model wrote them: JSON text' }) readonly arguments!: string;
}

export class ToolResultItemBody {
  @ApiProperty({ enum: ['tool_result'] }) readonly type!: 'tool_result';
  @ApiId() readonly toolCallId!: string;
  @ApiProperty() readonly text!: string;
  @ApiProperty() readonly isError!: boolean;
  @ApiPropertyOptional({
    type: 'string',
    description: 'The handle of a result of which the request held the beginning alone',
  })
  readonly folded?: string;
  @ApiPropertyOptional({ type: 'string', description: 'Why no tool gave it' }) readonly synthetic?: string;
}

const items = {
  type: 'array',
  items: { oneOf: [TextItemBody, ToolCallItemBody, ToolResultItemBody].map((type) => ({ $ref: getSchemaPath(type) })) },
} as const;

export class FailureBody {
  @ApiProperty({ description: 'What happened, in words' }) readonly detail!: string;
  @ApiPropertyOptional({ description: 'Text that had arrived: for the audit, and never context' })
  readonly partial?: string;
}

@ApiExtraModels(TextItemBody, ToolCallItemBody, ToolResultItemBody)
export class NodeBody extends OmitType(TreeNodeBody, ['conversationId']) implements Json<NodeView> {
  @ApiId() readonly conversationId!: string;
  @ApiProperty({ ...items, description: 'What this node sent first' }) readonly sent!: ItemView[];
  @ApiProperty({ ...items, description: 'What the model answered' }) readonly received!: ItemView[];
  @ApiPropertyOptional({ type: FailureBody, description: 'Of a failed node' }) readonly failure?: FailureBody;
  @ApiProperty({ description: 'Of the request’s bytes' }) readonly sha256!: string;
  @ApiProperty({ type: 'integer', description: 'Bytes of the request' }) readonly length!: number;
  @ApiProperty() readonly exact!: boolean;
}

export const partKinds = [
  'frame',
  'system',
  'tools',
  'summary',
  'window',
  'state',
  'turn',
] as const satisfies readonly ReplayPartKind[];

export class ReplayPartBody implements Json<ReplayView['parts'][number]> {
  @ApiProperty({ type: 'integer', description: 'First byte' }) readonly from!: number;
  @ApiProperty({ type: 'integer', description: 'The byte after the last' }) readonly to!: number;
  @ApiProperty({ enum: partKinds }) readonly what!: ReplayPartKind;
  @ApiId({ nullable: true }) readonly nodeId!: string | null;
  @ApiId({ nullable: true }) readonly eventId!: string | null;
}

export class ReplayBody implements Json<Omit<ReplayView, 'bytes'>> {
  @ApiId() readonly nodeId!: string;
  @ApiProperty() readonly provider!: string;
  @ApiProperty() readonly model!: string;
  @ApiProperty() readonly url!: string;
  @ApiProperty({ description: 'As recorded when the request was sent' }) readonly sha256!: string;
  @ApiProperty({ type: 'integer' }) readonly length!: number;
  @ApiProperty({ description: 'The bytes below have this digest' }) readonly verified!: boolean;
  @ApiProperty() readonly exact!: boolean;
  @ApiProperty({ description: 'The request body exactly as sent' }) readonly body!: string;
  @ApiProperty({ type: [ReplayPartBody], description: 'UTF-8 bytes, in order and without holes' })
  readonly parts!: ReplayPartBody[];
}
