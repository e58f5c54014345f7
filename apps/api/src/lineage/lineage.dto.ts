import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import type { HeldByView, LineageRoute, LineageView, Page, RestsOnType, RestsOnView } from '@palimpsest/application';
import { PageQuery } from '../conversations/conversations.dto';
import type { Json } from '../http/json';
import { ApiDecimal, ApiId } from '../http/openapi';
import { IsDecimal, IsReference, Optional } from '../http/rules';

export class LineageQuery extends PageQuery {
  @Optional() @IsReference() readonly node?: string;
  @Optional() @IsReference() readonly toolCall?: string;
  @Optional() @IsReference() readonly assertion?: string;
  @Optional() @IsReference() readonly playbook?: string;
  @Optional()
  @Matches(/^[0-9a-fA-F]{64}$/, { message: '$property must be a SHA-256 in hex' })
  readonly digest?: string;
  @Optional() @IsDecimal() readonly minRevision?: string;
}

const routes = ['verbatim', 'folded', 'summary', 'state'] as const satisfies readonly LineageRoute[];
const types = [
  'user',
  'assistant',
  'tool_result',
  'instruction',
  'assertion',
  'summary',
  'assistant_version',
] as const satisfies readonly RestsOnType[];

const ApiVia = (): PropertyDecorator =>
  ApiProperty({
    type: [String],
    enum: routes,
    description: 'As it was said; as the line that stands in for a folded result; inside a summary; as a value in the state block', // prettier-ignore
  });

const ApiSummaries = (): PropertyDecorator =>
  ApiPropertyOptional({ type: [String], description: 'The nodes of the summaries that it was inside of' });

const ApiNext = (): PropertyDecorator =>
  ApiProperty({ type: 'string', nullable: true, description: 'Goes on with this list alone, as `cursor`' });

export class HeldByBody implements Json<HeldByView> {
  @ApiId() readonly conversationId!: string;
  @ApiId() readonly nodeId!: string;
  @ApiId({ nullable: true, description: 'Null outside a turn' }) readonly turnId!: string | null;
  @ApiProperty() readonly kind!: string;
  @ApiProperty({ description: 'It called no tool and did not pause: of a turn, what a person was answered' })
  readonly final!: boolean;
  @ApiProperty({ description: 'It stands on the branch that its conversation’s head is on' })
  readonly current!: boolean;
  @ApiVia() readonly via!: LineageRoute[];
  @ApiSummaries() readonly summaries?: string[];
}

export class HeldByPageBody implements Json<Page<HeldByView>> {
  @ApiProperty({ type: [HeldByBody] }) readonly items!: HeldByBody[];
  @ApiNext() readonly next!: string | null;
}

export class RestsOnBody implements Json<RestsOnView> {
  @ApiProperty({ enum: types }) readonly type!: RestsOnType;
  @ApiVia() readonly via!: LineageRoute[];
  @ApiSummaries() readonly summaries?: string[];
  @ApiPropertyOptional({ type: String }) readonly conversationId?: string;
  @ApiPropertyOptional({ type: String, nullable: true, description: 'Null: said before there was a node' })
  readonly nodeId?: string | null;
  @ApiPropertyOptional({ type: String }) readonly turnId?: string;
  @ApiPropertyOptional({ type: String }) readonly toolCallId?: string;
  @ApiPropertyOptional({ type: String, description: 'The tool’s name in the assistant’s definition' })
  readonly tool?: string;
  @ApiPropertyOptional({ type: String, description: 'Can be asked about in turn' }) readonly assertion?: string;
  @ApiPropertyOptional({ type: String }) readonly field?: string;
  @ApiPropertyOptional({ type: String }) readonly assistantId?: string;
  @ApiPropertyOptional({ type: 'integer' }) readonly version?: number;
  @ApiPropertyOptional({ type: String }) readonly eventId?: string;
  @ApiDecimal() readonly revision!: string;
}

export class RestsOnPageBody implements Json<Page<RestsOnView>> {
  @ApiProperty({ type: [RestsOnBody] }) readonly items!: RestsOnBody[];
  @ApiNext() readonly next!: string | null;
}

export class LineageBody implements Json<LineageView> {
  @ApiPropertyOptional({ type: String }) readonly nodeId?: string;
  @ApiPropertyOptional({ type: String }) readonly toolCallId?: string;
  @ApiPropertyOptional({ type: String }) readonly assertion?: string;
  @ApiPropertyOptional({ type: String }) readonly playbookId?: string;
  @ApiPropertyOptional({ type: String }) readonly digest?: string;
  @ApiPropertyOptional({ type: HeldByPageBody, description: 'The answers whose requests held it' })
  readonly heldBy?: HeldByPageBody;
  @ApiPropertyOptional({
    type: RestsOnPageBody,
    description: 'Of a node or a playbook: what its own request held. Left out of an imported node, whose request is not known',
  }) // prettier-ignore
  readonly restsOn?: RestsOnPageBody;
}
