export { type Day, isZone, type Moment } from './calendar';
export { type AnswerSchema, answerSchema, type TurnMessage } from './extraction/answer-schema';
export { EXTRACT, extractionInstruction } from './extraction/instruction';
export {
  type ExtractedStatement,
  type ExtractedTurn,
  type ExtractionAnswer,
  readExtraction,
  type ReadExtraction,
} from './extraction/read-extraction';
export { DEFAULT_SCHEMA } from './default-schema';
export { stateLimits } from './limits';
export { identityOf } from './identity';
export { parseSchema, type ParsedSchema, type SchemaProblem } from './parse-schema';
export { attest, quoteStands } from './quote';
export { history, type HistoryEntry, inOrder, reconcile, step } from './reconcile';
export { type BlockOptions, type BlockPiece, blockText, renderBlock } from './render';
export { type Scan, type ScanHit, scanQuestion } from './scan';
export { standsIn } from './stands-in';
export * from './schema';
export * from './state';
export * from './statement';
export { parseValue, type ParsedValue, sameValue, showValue, type ValueProblem } from './value';
export { onlyRepeats, type RuleTags, type TaggedTurn, tagTurn } from './tags';
export { type FieldView, viewOf } from './view';
