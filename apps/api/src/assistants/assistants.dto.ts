import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { type FoldChoice, foldChoices } from '@palimpsest/assistant';
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
  OptionalOrNull,
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

const manyMessages = 10_000;
const share = { type: 'number', minimum: 0.05, maximum: 1 } as const;

/** A whole number that may be left out. */
const Count = (minimum: number, maximum: number, more: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum, maximum, ...more }),
    ...[Optional(), IsInt(), Min(minimum), Max(maximum)],
  );

const Share = (more: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ ...share, ...more }),
    ...[Optional(), IsNumber(), Min(share.minimum), Max(share.maximum)],
  );

export class WindowFields {
  @Count(2, manyMessages, {
    default: 24,
    description: 'Questions and final answers that gather before the oldest leave',
  })
  readonly messages?: number;

  @Count(1, manyMessages, { default: 12, description: 'How many stay; fewer than `messages`' })
  readonly keep?: number;
}

export class PressureFields {
  @Share({ default: 0.7, description: 'Share of the model’s input cap that a request passes' })
  readonly above?: number;

  @Share({ default: 0.4, description: 'Share to which it is brought down; less than `above`' })
  readonly below?: number;
}

export class SummaryFields {
  @ApiPropertyOptional({
    type: ModelFields,
    description: 'Who writes the summaries; left out, the assistant’s own model',
  })
  @Optional()
  @IsNested()
  @ValidateNested()
  @Type(() => ModelFields)
  readonly model?: ModelFields;

  @ApiPropertyOptional({ description: 'What a summary is asked for, instead of our own words' })
  @Optional()
  @IsText()
  readonly instruction?: string;

  @Count(50, manyTokens, {
    description: 'Tokens of one summary at most; by default a twentieth of the input cap, from 200 to 1,000',
  })
  readonly maxTokens?: number;

  @Count(50, manyTokens, {
    description:
      'Tokens of all summaries in a request, beyond which they are compacted; by default six times `maxTokens`',
  })
  readonly totalTokens?: number;
}

export class ContextFields {
  @ApiPropertyOptional({ type: WindowFields, nullable: true, description: 'Null turns the window off' })
  @OptionalOrNull()
  @IsNested()
  @ValidateNested()
  @Type(() => WindowFields)
  readonly window?: WindowFields | null;

  @ApiPropertyOptional({ type: PressureFields, nullable: true, description: 'Null turns it off' })
  @OptionalOrNull()
  @IsNested()
  @ValidateNested()
  @Type(() => PressureFields)
  readonly pressure?: PressureFields | null;

  @Count(1, manyMessages, {
    description: 'Turns that leave together as soon as another one is behind them; left out, however many there are',
  })
  readonly everyTurns?: number;

  @ApiPropertyOptional({
    enum: foldChoices,
    nullable: true,
    default: 'turn_end',
    description: 'When results of earlier turns are folded; null: only where they must be',
  })
  @OptionalOrNull()
  @IsIn(foldChoices)
  readonly folds?: FoldChoice | null;

  @ApiPropertyOptional({ type: SummaryFields })
  @Optional()
  @IsNested()
  @ValidateNested()
  @Type(() => SummaryFields)
  readonly summaries?: SummaryFields;
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
    type: ContextFields,
    description: 'When the oldest messages leave the requests of its conversations for a summary of them',
  })
  @Optional()
  @IsNested()
  @ValidateNested()
  @Type(() => ContextFields)
  readonly context?: ContextFields;

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
