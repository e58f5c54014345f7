export type { Access } from './access';
export { type Certificates, newCertificates } from './certificates';
export { EventStoreDbCluster } from './cluster';
export { type AppendFault, type Endpoint, Faults } from './faults';
export { EventLog, MAX_APPEND_SIZE, type Recorded } from './event-log';
export { EventStoreDbProcess } from './own-process';
export { EventStoreDbServer } from './server';
export { Tampering } from './tampering';
