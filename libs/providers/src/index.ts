export { isExact, reservedParams, thinks } from './params';
export * from './models';
export { compactsItself, holdsCompaction } from './own-compaction';
export * from './port';
export { AnthropicProvider } from './anthropic-messages/provider';
export { OpenAiProvider, type ProviderOptions } from './openai-chat/provider';
export { type Ending, endingOfResponse } from './response-ending';
export { type NeutralItem, neutralResponse } from './neutral-items';
export { itemsOfResponse, textOfItems } from './response-items';
export { type ToolOnWire, toolsOnWire } from './wire-tools';
export { SimulatedProvider } from './simulated/provider';
export {
  type Capture,
  type SimulatedModel,
  type SimulatedModelOptions,
  startSimulatedModel,
} from './simulated/server/start';
