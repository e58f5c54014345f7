export * from './model-facts';
export { createModelRegistry, type ModelEntry, type ModelRegistry } from './registry';
export { loadModels, readModels } from './models.config';
export { ModelsFileError } from './models-file-error';
export { tokenCounters, type TokenCounters } from './token-counters';
export { costOf } from './cost';
export { predictedCachedTokens, type SharedPrefix } from './cached-share';
