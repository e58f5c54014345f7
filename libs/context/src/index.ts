export * from './items';
export * from './manifest';
export * from './pointer';
export * from './segment';
export * from './path-fold';
export * from './tokens';
export { type FoldCandidate, planFolds } from './folds/plan';
export { pagesOf } from './folds/pages';
export { handleOf, READ_RESULT, STAND_IN_HEAD, standIn } from './folds/stand-in';
