import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type {
  Change,
  ChangeSumView,
  ComparedRequestView,
  ItemDifferenceView,
  RequestDiffView,
  ShownItemView,
} from '@palimpsest/application';
import { AtLeastQuery } from '../http/at-least';
import type { Json } from '../http/json';
import { ApiId } from '../http/openapi';
import { IsDecimal, IsReference, Optional } from '../http/rules';
import { partKinds } from './nodes.dto';

const changes = ['added', 'removed', 'changed', 'same'] as const satisfies readonly Change[];
const types = [
  ...['frame', 'system', 'tool', 'summary', 'state', 'user'] as const,
  ...['assistant', 'reasoning', 'tool_call', 'tool_result', 'block'] as const,
] satisfies readonly ItemDifferenceView['type'][]; // prettier-ignore

export class DiffQuery extends AtLeastQuery {
  @IsReference()
  readonly with!: string;

  @Optional()
  @IsDecimal()
  readonly minPosition?: string;
}

class ComparedRequestBody implements Json<ComparedRequestView> {
  @ApiId() readonly nodeId!: string;
  @ApiId() readonly conversationId!: string;
  @ApiProperty() readonly provider!: string;
  @ApiProperty() readonly model!: string;
  @ApiProperty() readonly sha256!: string;
  @ApiProperty({ type: 'integer' }) readonly length!: number;
  @ApiProperty({ description: 'Its bytes have the digest that was recorded' }) readonly verified!: boolean;
  @ApiProperty() readonly exact!: boolean;
}

class ShownItemBody implements Json<ShownItemView> {
  @ApiProperty({ enum: partKinds }) readonly what!: ShownItemView['what'];
  @ApiId({ nullable: true }) readonly nodeId!: string | null;
  @ApiProperty({ type: 'integer', description: 'Of its text, before the wire format escapes it' })
  readonly bytes!: number;
  @ApiPropertyOptional({ type: 'string', description: 'The handle of a result of which the beginning alone was shown' })
  readonly folded?: string;
  @ApiPropertyOptional({
    type: 'string',
    description: 'Left out of what is the same; of what changed, from shortly before the first difference',
  })
  readonly excerpt?: string;
}

export class ItemDifferenceBody implements Json<ItemDifferenceView> {
  @ApiProperty({ enum: changes }) readonly change!: Change;
  @ApiProperty({ enum: types }) readonly type!: ItemDifferenceView['type'];
  @ApiPropertyOptional({ type: 'string', description: 'Of a tool, of a call, or of a line of the state block' })
  readonly name?: string;
  @ApiPropertyOptional({ type: 'string' }) readonly toolCallId?: string;
  @ApiPropertyOptional({ type: ShownItemBody }) readonly before?: ShownItemBody;
  @ApiPropertyOptional({ type: ShownItemBody }) readonly after?: ShownItemBody;
}

class ChangeSumBody implements Json<ChangeSumView> {
  @ApiProperty({ type: 'integer' }) readonly items!: number;
  @ApiProperty({ type: 'integer', description: 'In the later request; of what was removed, in the earlier one' })
  readonly bytes!: number;
}

export class ChangeSumsBody implements Json<RequestDiffView['sums']> {
  @ApiProperty({ type: ChangeSumBody }) readonly added!: ChangeSumBody;
  @ApiProperty({ type: ChangeSumBody }) readonly removed!: ChangeSumBody;
  @ApiProperty({ type: ChangeSumBody }) readonly changed!: ChangeSumBody;
  @ApiProperty({ type: ChangeSumBody }) readonly same!: ChangeSumBody;
}

export class RequestDiffBody implements Json<RequestDiffView> {
  @ApiProperty({ type: ComparedRequestBody }) readonly before!: ComparedRequestBody;
  @ApiProperty({ type: ComparedRequestBody }) readonly after!: ComparedRequestBody;
  @ApiProperty({ type: ChangeSumsBody }) readonly sums!: ChangeSumsBody;
  @ApiProperty({
    type: [ItemDifferenceBody],
    description: 'In the order of the later request; what was removed stands where it stood',
  })
  readonly items!: ItemDifferenceBody[];
}
