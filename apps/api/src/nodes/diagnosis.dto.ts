import { ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import type { DiagnosisView, FailedSummaries, Finding, LengthEvidence, PartTokens, UpdateEvidence, ValueEvidence } from '@palimpsest/application'; // prettier-ignore
import type { Json } from '../http/json';
import { ApiId } from '../http/openapi';
import { coverageBodies } from './coverage.dto';

const tokens = { type: 'integer' } as const;
const unknownTokens = { ...tokens, nullable: true } as const;

export class PartTokensBody implements Json<PartTokens> {
  @ApiProperty(tokens) readonly frame!: number;
  @ApiProperty(tokens) readonly system!: number;
  @ApiProperty(tokens) readonly tools!: number;
  @ApiProperty(tokens) readonly summary!: number;
  @ApiProperty(tokens) readonly window!: number;
  @ApiProperty(tokens) readonly state!: number;
  @ApiProperty(tokens) readonly turn!: number;
}

export class FailedSummaryBody implements Json<FailedSummaries['last']> {
  @ApiId() readonly nodeId!: string;
  @ApiProperty({ type: 'string', nullable: true }) readonly reason!: string | null;
}

export class FailedSummariesBody implements Json<FailedSummaries> {
  @ApiProperty({ type: 'integer' }) readonly count!: number;
  @ApiProperty({ type: FailedSummaryBody }) readonly last!: FailedSummaryBody;
}

export class LengthEvidenceBody implements Json<LengthEvidence> {
  @ApiProperty({ ...unknownTokens, description: 'As the provider reported them' }) readonly inputTokens!: number | null;
  @ApiProperty({ ...unknownTokens, description: 'Before the call' }) readonly estimatedTokens!: number | null;
  @ApiProperty({ ...unknownTokens, description: 'Of the model' }) readonly inputCap!: number | null;
  @ApiProperty({ type: PartTokensBody, description: 'By estimate' }) readonly parts!: PartTokensBody;
  @ApiProperty({ type: 'integer' }) readonly bytes!: number;
  @ApiProperty({ type: 'integer', description: 'Shared with the request before' }) readonly repeatedBytes!: number;
  @ApiProperty({ ...unknownTokens, description: 'From which on the oldest messages leave; null: they do not' })
  readonly threshold!: number | null;
  @ApiProperty({
    type: FailedSummariesBody,
    nullable: true,
    description: 'Of what the request holds word by word, until now; null: none failed',
  })
  readonly failedSummaries!: FailedSummariesBody | null;
}

export class ValueEvidenceBody implements Json<ValueEvidence> {
  @ApiProperty() readonly field!: string;
  @ApiProperty({ example: 'instruction' }) readonly kind!: string;
  @ApiProperty({ oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] })
  readonly value!: string | number | boolean;
  @ApiId({ description: 'Where it was said' }) readonly nodeId!: string;
  @ApiProperty({
    oneOf: coverageBodies.map((type) => ({ $ref: getSchemaPath(type) })),
    description: 'What became of the question there',
  })
  readonly coverage!: Json<ValueEvidence['coverage']>;
  @ApiProperty({ description: 'However it is written there' }) readonly inSummary!: boolean;
  @ApiProperty() readonly inState!: boolean;
}

const whats = ['unrecorded', 'unsettled', 'extraction_failed', 'extraction_late'] as const;

export class UpdateEvidenceBody implements Json<UpdateEvidence> {
  @ApiProperty({
    enum: whats,
    description:
      'A value in the question that the state there lacks; a field that the question may change; an extraction without effect',
  })
  readonly what!: UpdateEvidence['what'];
  @ApiId() readonly nodeId!: string;
  @ApiPropertyOptional() readonly field?: string;
  @ApiPropertyOptional({ description: 'Why it failed' }) readonly reason?: string;
}

const answers = ['yes', 'no', 'unknown'] as const;
type Answered = Finding<unknown>['answer'];

export class LengthFindingBody implements Json<Finding<LengthEvidence>> {
  @ApiProperty({ enum: answers }) readonly answer!: Answered;
  @ApiProperty({ type: [LengthEvidenceBody] }) readonly evidence!: LengthEvidenceBody[];
}

export class ValueFindingBody implements Json<Finding<ValueEvidence>> {
  @ApiProperty({ enum: answers }) readonly answer!: Answered;
  @ApiProperty({ type: [ValueEvidenceBody], description: 'Confirmed values whose questions left the request' })
  readonly evidence!: ValueEvidenceBody[];
}

export class UpdateFindingBody implements Json<Finding<UpdateEvidence>> {
  @ApiProperty({ enum: answers }) readonly answer!: Answered;
  @ApiProperty({ type: [UpdateEvidenceBody] }) readonly evidence!: UpdateEvidenceBody[];
}

export class DiagnosisBody implements Json<DiagnosisView> {
  @ApiId() readonly nodeId!: string;
  @ApiProperty({ type: LengthFindingBody }) readonly historyTooLong!: LengthFindingBody;
  @ApiProperty({ type: ValueFindingBody }) readonly summaryLostValue!: ValueFindingBody;
  @ApiProperty({ type: UpdateFindingBody }) readonly stateNotUpdated!: UpdateFindingBody;
}
