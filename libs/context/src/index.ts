export * from './correction';
export { leftOutOf, without } from './filter';
export * from './items';
export * from './manifest';
export * from './pointer';
export * from './prefix';
export * from './segment';
export { isProvidersOwn, nodeAsRequested, type NodePlace, type NodeRecord, stateAt } from './node-record';
export * from './path-fold';
export * from './summaries';
export * from './tokens';
export { type EarlyFolds, type FoldCandidate, foldsFor } from './folds/plan';
export { pagesOf } from './folds/pages';
export { handleOf, READ_RESULT, STAND_IN_HEAD, STAND_IN_LINE, standIn } from './folds/stand-in';
export {
  type Coverage,
  type CoverageInput,
  type CoveredItem,
  coverageOf,
  type OmissionReason,
} from './coverage/coverage';
export { HeldTexts } from './coverage/held-texts';
export { itemsOf, type LineageItem } from './coverage/lineage-items';
export { summariesBehind } from './coverage/standing';
