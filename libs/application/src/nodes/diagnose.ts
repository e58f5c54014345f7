import type { AssistantDefinition } from '@palimpsest/assistant';
import { coveredOn, type CoverageInput, coverageOf, estimatingCounter, type NodeRecord } from '@palimpsest/context';
import type { EventOf } from '@palimpsest/conversation';
import { type DialogueState, fieldOf, sameValue, scanQuestion, type ScanHit, standsIn, type StateSchema, viewOf } from '@palimpsest/dialogue-state'; // prettier-ignore
import type { NodeRow } from '@palimpsest/read-models';
import type { Finding, LengthEvidence, PartTokens, UpdateEvidence, ValueEvidence } from './diagnosis-view';

export interface Examined extends CoverageInput {
  readonly row: NodeRow;
  readonly definition: AssistantDefinition;
}

/** `summaries`: of what `wholeIn` names. */
export function historyTooLong(
  examined: Examined,
  requested: EventOf<'CallRequested'>,
  summaries: readonly NodeRow[],
): Finding<LengthEvidence> {
  const { row, definition } = examined;
  const { tokens, prefix, length } = requested.data;
  const { model, compaction, context, extraction } = definition;
  const models = [model, compaction?.model, context?.summaries.model, extraction?.model];
  const inputCap = models.find((one) => one?.provider === row.provider && one.name === row.model)?.inputCap ?? null;
  const share = context?.pressure?.above ?? compaction?.at;
  const threshold = share === undefined || inputCap === null ? null : Math.floor(share * inputCap);
  const inputTokens = row.input_tokens === null ? null : Number(row.input_tokens);
  const estimatedTokens = tokens?.estimated ?? null;
  const size = inputTokens ?? estimatedTokens;
  const most = threshold ?? inputCap;
  const repeated = { bytes: length, repeatedBytes: prefix?.bytes ?? 0 };
  const failed = summaries.filter(({ status }) => status === 'failed');
  const last = failed.at(-1);
  const failedSummaries = last ? { count: failed.length, last: { nodeId: last.node_id, reason: last.reason } } : null;
  const evidence = [
    { inputTokens, estimatedTokens, inputCap, parts: partsOf(examined), ...repeated, threshold, failedSummaries },
  ];
  if (row.reason === 'context_overflow') return { answer: 'yes', evidence };
  if (size === null || most === null) return { answer: 'unknown', evidence };
  return { answer: size >= most ? 'yes' : 'no', evidence };
}

/** What a request holds word by word, or would: no summary stands for it. */
export function wholeIn({ lineage, fold }: CoverageInput): readonly string[] {
  const covered = coveredOn(lineage, fold.segmentsOn(lineage));
  const behind = lineage.slice(lineage.findLastIndex(({ kind }) => kind === 'compaction') + 1);
  return behind.map(({ nodeId }) => nodeId).filter((nodeId) => !covered.has(nodeId));
}

function partsOf({ segments, lineage }: Examined): PartTokens {
  const last = lineage.at(-1) as NodeRecord;
  const here = new Set(lineage.filter((node) => node === last || (last.turnId !== null && node.turnId === last.turnId)).map(({ nodeId }) => nodeId)); // prettier-ignore
  const counter = estimatingCounter();
  const parts = { frame: 0, system: 0, tools: 0, summary: 0, window: 0, state: 0, turn: 0 };
  for (const { kind, nodeId, text } of segments.flat())
    parts[kind === 'turn' && !here.has(nodeId ?? '') ? 'window' : kind] += counter.text(text);
  return parts;
}

/** Of each confirmed value whose question is no longer in the request, whether the request still says it. */
export function summaryLostValue(examined: Examined, state: DialogueState): Finding<ValueEvidence> {
  const { definition, segments } = examined;
  const schema = definition.state;
  if (!schema) return { answer: 'unknown', evidence: [] };
  const questions = new Map(coverageOf(examined).filter(({ item }) => item.type === 'user').map(({ item, coverage }) => [item.nodeId, coverage])); // prettier-ignore
  const textOf = (kind: string) => segments.flatMap((pieces) => pieces.filter((piece) => piece.kind === kind)).map(({ text }) => text).join(''); // prettier-ignore
  const [summary, block] = [textOf('summary'), textOf('state')];
  const evidence = viewOf(state, schema).flatMap((row): readonly ValueEvidence[] => {
    const { nodeId } = row.source;
    const coverage = questions.get(nodeId);
    const field = fieldOf(schema, row.field);
    if (row.standing !== 'confirmed' || !field || !coverage || !LEFT.has(coverage.kind)) return [];
    const stands = (text: string) => standsIn(text, field, row, definition.locale);
    const { kind, value } = row;
    return [{ field: row.field, kind, value, nodeId, coverage, inSummary: stands(summary), inState: stands(block) }];
  });
  const lost = evidence.some(({ inSummary, inState }) => !inSummary && !inState);
  return { answer: lost ? 'yes' : 'no', evidence };
}

const LEFT: ReadonlySet<string> = new Set(['summarised', 'compacted', 'filtered']);

/** A question on the lineage in which a rule reads something. */
export interface ReadQuestion {
  readonly nodeId: string;
  readonly hits: readonly ScanHit[];
  readonly mayChange: readonly string[];
}

export function questionsRead({ lineage, fold }: CoverageInput, schema: StateSchema): readonly ReadQuestion[] {
  return lineage.flatMap(({ nodeId, first, turnId }) => {
    const [question, moment] = turnId !== null && first ? [fold.questionOf(turnId), fold.momentOf(turnId)] : [];
    return question && moment ? [{ nodeId, ...scanQuestion(question.text, schema, moment) }] : [];
  });
}

/** The last hit of each field is what its question says in the end. */
export function unrecorded(
  { nodeId, hits }: ReadQuestion,
  schema: StateSchema,
  state: DialogueState,
): readonly UpdateEvidence[] {
  const last = new Map(hits.map((hit) => [hit.field, hit]));
  return [...last].flatMap(([name, hit]) => {
    const field = fieldOf(schema, name);
    const values = state.fields.find((known) => known.field === name)?.values ?? [];
    const isRecorded = hit.retract ? values.length === 0 : field && values.some((held) => sameValue(field, held, hit));
    return isRecorded ? [] : [{ what: 'unrecorded' as const, nodeId, field: name }];
  });
}

export function stateNotUpdated(evidence: readonly UpdateEvidence[]): Finding<UpdateEvidence> {
  if (evidence.some(({ what }) => what === 'unrecorded')) return { answer: 'yes', evidence };
  return { answer: evidence.length > 0 ? 'unknown' : 'no', evidence };
}
