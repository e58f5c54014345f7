export type { Anchored } from './anchor-track';
export type { Fault, FaultKind } from './fault';
export * from './verify-log';
