export * from './faulty-store';
export * from './ledger';
