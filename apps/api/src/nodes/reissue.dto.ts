import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  getSchemaPath,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import type { AnswerDifferences, IssuedView, ReissueView, UntaggedItemView } from '@palimpsest/application';
import { Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { ModelFields } from '../assistants/assistants.dto';
import type { Json } from '../http/json';
import { ApiDecimal, ApiId } from '../http/openapi';
import { IsName, IsNested, Optional } from '../http/rules';
import { UsageBody } from '../http/usage.dto';
import { TextItemBody, ToolCallItemBody } from './nodes.dto';

class OtherModelFields extends PartialType(PickType(ModelFields, ['provider'])) {
  @ApiProperty({ example: 'gpt-4o-mini', maxLength: 200 })
  @IsName(200)
  readonly name!: string;
}

export class ReissueNodeBody {
  @ApiPropertyOptional({
    type: OtherModelFields,
    description:
      'Another model: the request is made anew for it, of the same items; its provider is the node’s where none is named. Left out, the recorded bytes are sent',
  })
  @Optional()
  @IsNested()
  @ValidateNested()
  @Type(() => OtherModelFields)
  readonly model?: OtherModelFields;
}

class IssueErrorBody {
  @ApiProperty() readonly code!: string;
  @ApiProperty() readonly detail!: string;
}

@ApiExtraModels(TextItemBody, ToolCallItemBody)
export class IssuedBody implements Json<IssuedView> {
  @ApiId() readonly nodeId!: string;
  @ApiProperty() readonly provider!: string;
  @ApiProperty() readonly model!: string;
  @ApiProperty({ enum: ['succeeded', 'failed'] }) readonly status!: 'succeeded' | 'failed';
  @ApiProperty({
    type: 'array',
    items: { oneOf: [TextItemBody, ToolCallItemBody].map((type) => ({ $ref: getSchemaPath(type) })) },
    description: 'Tools that it calls are told, and not run',
  })
  readonly answer!: UntaggedItemView[];
  @ApiPropertyOptional({ type: IssueErrorBody, description: 'Of a call that failed' }) readonly error?: IssueErrorBody;
  @ApiProperty({ type: UsageBody, nullable: true }) readonly usage!: UsageBody | null;
  @ApiProperty({ description: 'Of the request’s bytes' }) readonly sha256!: string;
}

export class AnswerDifferencesBody implements Json<AnswerDifferences> {
  @ApiProperty({ description: 'In what is said and in the tools that are called; thoughts and ids are not compared' })
  readonly equal!: boolean;
  @ApiProperty({ type: [String], description: 'Lines that the original does not have' }) readonly added!: string[];
  @ApiProperty({ type: [String], description: 'Lines that only the original has' }) readonly removed!: string[];
}

export class ReissueBody extends IssuedBody implements Json<ReissueView> {
  @ApiId({ description: 'The node whose request was sent again' }) readonly of!: string;
  @ApiProperty({ description: 'The bytes are those of the original' }) readonly sameBytes!: boolean;
  @ApiProperty({ type: IssuedBody }) readonly original!: IssuedBody;
  @ApiProperty({ type: AnswerDifferencesBody }) readonly differences!: AnswerDifferencesBody;
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
}
