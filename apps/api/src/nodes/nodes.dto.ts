import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath, OmitType } from '@nestjs/swagger';
import type { ItemView, NodeView, ReplayPartKind, ReplayView, TagView } from '@palimpsest/application';
import { ITEM_TAGS, type ItemPlace, type ItemTag, type TagSource } from '@palimpsest/conversation';
import { IsIn, Matches } from 'class-validator';
import { TreeNodeBody } from '../conversations/conversations.dto';
import type { Json } from '../http/json';
import { ApiDecimal, ApiId } from '../http/openapi';

const tagSources = ['rule', 'extraction', 'user'] as const satisfies readonly TagSource[];
const ITEM_PLACE = /^(sent|received)\/(0|[1-9]\d{0,3})$/;

const ItemPlaceProperty = (): PropertyDecorator =>
  ApiProperty({
    ...{ type: 'string', pattern: ITEM_PLACE.source, example: 'sent/0' },
    description: 'Where the item stands in the node’s `sent` or `received`, from 0',
  });

export class TagItemBody {
  @ItemPlaceProperty()
  @Matches(ITEM_PLACE, { message: '$property must be a place such as sent/0 or received/1' })
  readonly item!: ItemPlace;

  @ApiProperty({ enum: ITEM_TAGS, description: 'The last three are left out of summaries' })
  @IsIn(ITEM_TAGS)
  readonly tag!: ItemTag;
}

export class TagBody implements Json<TagView> {
  @ApiId() readonly nodeId!: string;
  @ItemPlaceProperty() readonly item!: ItemPlace;
  @ApiProperty({ enum: ITEM_TAGS }) readonly tag!: ItemTag;
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
}

class ItemBody {
  @ApiPropertyOptional({ enum: ITEM_TAGS, description: 'What it is for whoever summarises' }) readonly tag?: ItemTag;
  @ApiPropertyOptional({ enum: tagSources, description: 'Who said so' }) readonly taggedBy?: TagSource;
}

export class TextItemBody extends ItemBody {
  @ApiProperty({ enum: ['user', 'assistant', 'reasoning'] }) readonly type!: 'user' | 'assistant' | 'reasoning';
  @ApiProperty() readonly text!: string;
}

export class ToolCallItemBody extends ItemBody {
  @ApiProperty({ enum: ['tool_call'] }) readonly type!: 'tool_call';
  @ApiId() readonly toolCallId!: string;
  @ApiProperty() readonly name!: string;
  @ApiProperty({ description: 'As the model wrote them: JSON text' }) readonly arguments!: string;
}

export class ToolResultItemBody extends ItemBody {
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
