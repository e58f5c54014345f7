import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { AssistantView } from '@palimpsest/application';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsIn, IsInt, IsNumber, IsObject, Max, Min, ValidateNested } from 'class-validator';
import type { Json } from '../http/json';
import { ApiDecimal, ApiId } from '../http/openapi';
import {
  IsLanguageTag,
  IsName,
  IsNested,
  IsReference,
  IsSchemaOrDefault,
  IsText,
  IsZone,
  Optional,
} from '../http/rules';

const providers = ['openai', 'anthropic', 'simulated'] as const;
const toolTypes = ['builtin', 'http', 'mcp'] as const;
const manyTokens = 100_000_000;

export class ModelFields {
  @ApiProperty({ enum: providers })
  @IsIn(providers)
  readonly provider!: (typeof providers)[number];

  @ApiProperty({ example: 'gpt-4o-mini', maxLength: 200 })
  @IsName(200)
  readonly name!: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, description: 'Tokens: context window less output reserve' })
  @Optional()
  @IsInt()
  @Min(1)
  @Max(manyTokens)
  readonly inputCap?: number;

  @ApiPropertyOptional({ type: 'integer', minimum: 1 })
  @Optional()
  @IsInt()
  @Min(1)
  @Max(manyTokens)
  readonly maxOutputTokens?: number;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Further fields of the request to the model, sent as they are',
    example: { temperature: 0 },
  })
  @Optional()
  @IsObject()
  readonly params?: Record<string, unknown>;
}

const compactors = ['summary', 'provider'] as const;

export class CompactionFields {
  @ApiPropertyOptional({
    enum: compactors,
    description:
      '`provider`: in the provider’s own form, by the assistant’s own model (anthropic alone). Left out, a summary in words',
  })
  @Optional()
  @IsIn(compactors)
  readonly by?: (typeof compactors)[number];

  @ApiPropertyOptional({
    type: ModelFields,
    description: 'Who writes the summary; left out, the assistant’s own model',
  })
  @Optional()
  @IsNested()
  @ValidateNested()
  @Type(() => ModelFields)
  readonly model?: ModelFields;

  @ApiPropertyOptional({ description: 'What the summary is asked for, instead of our own words' })
  @Optional()
  @IsText()
  readonly instruction?: string;

  @ApiPropertyOptional({
    ...{ type: 'number', minimum: 0.05, maximum: 1 },
    description: 'By itself, when a request passes this share of the model’s input cap; left out, on demand alone',
  })
  @Optional()
  @IsNumber()
  @Min(0.05)
  @Max(1)
  readonly at?: number;
}

const extractionModes = ['before', 'after'] as const;

export class ExtractionFields {
  @ApiProperty({
    enum: extractionModes,
    description:
      '`before`: a question waits, bounded, until what the turns before it say is known; `after`: it never waits',
  })
  @IsIn(extractionModes)
  readonly mode!: (typeof extractionModes)[number];

  @ApiPropertyOptional({ type: ModelFields, description: 'Who reads; left out, the assistant’s own model' })
  @Optional()
  @IsNested()
  @ValidateNested()
  @Type(() => ModelFields)
  readonly model?: ModelFields;
}

export class ToolFields {
  @ApiProperty({ enum: toolTypes })
  @IsIn(toolTypes)
  readonly type!: (typeof toolTypes)[number];

  @ApiProperty({ example: 'sql', maxLength: 128 })
  @IsName(128)
  readonly name!: string;
}

export class CreateAssistantBody {
  @ApiPropertyOptional({ type: 'string', format: 'uuid', description: 'A new version of this assistant' })
  @Optional()
  @IsReference()
  readonly assistantId?: string;

  @ApiProperty({ maxLength: 200 })
  @IsName(200)
  readonly name!: string;

  @ApiProperty({ example: 'You answer questions about sales.' })
  @IsText()
  readonly systemPrompt!: string;

  @ApiPropertyOptional({ type: ModelFields, description: 'Left out, it follows from the provider keys at hand' })
  @Optional()
  @IsNested()
  @ValidateNested()
  @Type(() => ModelFields)
  readonly model?: ModelFields;

  @ApiPropertyOptional({ type: [ToolFields], maxItems: 128 })
  @Optional()
  @IsArray()
  @ArrayMaxSize(128)
  @IsNested({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ToolFields)
  readonly tools?: ToolFields[];

  @ApiPropertyOptional({ example: 'en-GB', description: 'BCP 47' })
  @Optional()
  @IsLanguageTag()
  readonly locale?: string;

  @ApiPropertyOptional({ example: 'Asia/Seoul', description: 'IANA time zone' })
  @Optional()
  @IsZone()
  readonly zone?: string;

  @ApiPropertyOptional({ type: CompactionFields, description: 'How the context of its conversations is compacted' })
  @Optional()
  @IsNested()
  @ValidateNested()
  @Type(() => CompactionFields)
  readonly compaction?: CompactionFields;

  @ApiPropertyOptional({
    oneOf: [
      { type: 'string', enum: ['default'] },
      { type: 'object', required: ['fields'], properties: { fields: { type: 'array', items: { type: 'object' } } } },
    ],
    description:
      'What is kept of the state of its dialogues: fields of {name, type, kind, cardinality?, confirm?, labels?, aliases?, values?, currency?, units?}, or "default" for goal, constraints, chosen_option, budget, deadline, preferences and instructions. Left out: nothing',
    example: { fields: [{ name: 'budget', type: 'money', kind: 'constraint', currency: 'KRW' }] },
  })
  @Optional()
  @IsSchemaOrDefault()
  readonly state?: 'default' | Record<string, unknown>;

  @ApiPropertyOptional({
    type: ExtractionFields,
    description: 'Has a model say, once for each completed turn, what it says of the state. Only beside `state`',
  })
  @Optional()
  @IsNested()
  @ValidateNested()
  @Type(() => ExtractionFields)
  readonly extraction?: ExtractionFields;
}

export class AssistantBody implements Json<AssistantView> {
  @ApiId() readonly assistantId!: string;
  @ApiProperty({ type: 'integer', minimum: 1 }) readonly version!: number;
  @ApiDecimal() readonly revision!: string;
  @ApiDecimal() readonly position!: string;
}
