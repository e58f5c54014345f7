import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { StateHistoryView, StatementView, StateView } from '@palimpsest/application';
import { FIELD_KINDS } from '@palimpsest/dialogue-state';
import { Equals } from 'class-validator';
import { AsOfBody, WhenQuery } from '../http/as-of';
import type { Json } from '../http/json';
import { ApiDecimal, ApiId } from '../http/openapi';
import { IsName, IsReference, IsScalar, IsText, Optional } from '../http/rules';

const scalar = { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] };
const by = ['user', 'client', 'rule', 'model'] as const;
const standings = ['confirmed', 'proposed', 'retracted'] as const;

export class StateFieldBody {
  @ApiProperty({ example: 'budget', maxLength: 64, description: 'A field of the assistant’s state schema' })
  @IsName(64)
  readonly field!: string;

  @ApiPropertyOptional({
    ...scalar,
    example: '20,000',
    description: 'What the user wants kept; read as the field’s type',
  })
  @Optional()
  @IsScalar()
  readonly value?: string | number | boolean;

  @ApiPropertyOptional({
    maxLength: 2000,
    description: 'Of a value in a set: what it is about. A later one takes its place',
  })
  @Optional()
  @IsText()
  readonly key?: string;

  @ApiPropertyOptional({ enum: [true], description: 'The value, or all that the field holds, is valid no longer' })
  @Optional()
  @Equals(true)
  readonly retract?: true;
}

export class StatementBody implements Json<StatementView> {
  @ApiId() readonly conversationId!: string;
  @ApiProperty() readonly field!: string;
  @ApiId({ nullable: true, description: 'The node that it counts from; null before the first turn' })
  readonly nodeId!: string | null;
  @ApiPropertyOptional({ ...scalar, description: 'As it is kept' }) readonly value?: string | number | boolean;
  @ApiPropertyOptional({ type: 'string', example: 'KRW' }) readonly currency?: string;
  @ApiPropertyOptional({ type: 'string' }) readonly key?: string;
  @ApiPropertyOptional({ type: 'boolean', enum: [true] }) readonly retracted?: true;
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    description: 'Of what is retracted: how many values and proposals ended by it; 0: nothing of that held',
  })
  readonly ended?: number;
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
}

export class StateQuery extends WhenQuery {
  @Optional()
  @IsReference()
  readonly at?: string;
}

export class StateHistoryQuery extends StateQuery {
  @IsName(64)
  readonly field!: string;
}

export class SourceOfValueBody {
  @ApiId({ nullable: true, description: 'Null: it was said before there was a node' }) readonly nodeId!: string | null;
  @ApiPropertyOptional({ type: 'string', description: 'The words that it rests on' }) readonly quote?: string;
}

class SupersededBody {
  @ApiProperty(scalar) readonly value!: string | number | boolean;
  @ApiPropertyOptional({ type: 'string' }) readonly currency?: string;
  @ApiId({ nullable: true }) readonly nodeId!: string | null;
}

export class FieldStateBody implements Json<StateView['fields'][number]> {
  @ApiProperty() readonly field!: string;
  @ApiProperty({ enum: FIELD_KINDS }) readonly kind!: (typeof FIELD_KINDS)[number];
  @ApiProperty({ enum: standings }) readonly standing!: (typeof standings)[number];
  @ApiProperty(scalar) readonly value!: string | number | boolean;
  @ApiPropertyOptional({ type: 'string' }) readonly currency?: string;
  @ApiPropertyOptional({ type: 'string' }) readonly key?: string;
  @ApiProperty({ type: SourceOfValueBody }) readonly source!: SourceOfValueBody;
  @ApiProperty({ type: [SupersededBody], description: 'What stood in its place before, the last one first' })
  readonly superseded!: SupersededBody[];
}

export class StateBody implements Json<StateView> {
  @ApiId({ nullable: true }) readonly nodeId!: string | null;
  @ApiProperty({ type: [FieldStateBody], description: 'A set has a row for each of its values' })
  readonly fields!: FieldStateBody[];
  @ApiPropertyOptional({ type: AsOfBody, description: 'Of an answer as it was then' }) readonly asOf?: AsOfBody;
}

const endings = ['superseded', 'retracted', 'confirmed'] as const;

class EndingBody extends SourceOfValueBody {
  @ApiProperty({ enum: endings }) readonly how!: (typeof endings)[number];
}

export class PeriodBody implements Json<StateHistoryView['periods'][number]> {
  @ApiProperty(scalar) readonly value!: string | number | boolean;
  @ApiPropertyOptional({ type: 'string' }) readonly currency?: string;
  @ApiPropertyOptional({ type: 'string' }) readonly key?: string;
  @ApiProperty({ enum: by, description: 'Who said it' }) readonly by!: (typeof by)[number];
  @ApiProperty({ enum: ['confirmed', 'proposed'] }) readonly standing!: 'confirmed' | 'proposed';
  @ApiProperty({ type: SourceOfValueBody }) readonly from!: SourceOfValueBody;
  @ApiPropertyOptional({ type: SourceOfValueBody, description: 'Where it was said again last' })
  readonly affirmed?: SourceOfValueBody;
  @ApiPropertyOptional({ type: EndingBody, description: 'Left out while it lasts' }) readonly to?: EndingBody;
}

export class StateHistoryBody implements Json<StateHistoryView> {
  @ApiId({ nullable: true }) readonly nodeId!: string | null;
  @ApiProperty() readonly field!: string;
  @ApiProperty({ enum: FIELD_KINDS }) readonly kind!: (typeof FIELD_KINDS)[number];
  @ApiProperty({ type: [PeriodBody] }) readonly periods!: PeriodBody[];
  @ApiPropertyOptional({ type: AsOfBody, description: 'Of an answer as it was then' }) readonly asOf?: AsOfBody;
}
