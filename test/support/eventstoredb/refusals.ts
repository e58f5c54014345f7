import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { type Endpoint } from './faults';

/** An error as the server sends it: the client finds the kind in the trailer `exception`. */
export function refusal(code: status, details: string, trailers: Readonly<Record<string, string>> = {}): ServiceError {
  const metadata = new Metadata();
  // Header values are ASCII.
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, encodeURI(value));
  return Object.assign(new Error(details), { code, details, metadata });
}

export const unavailable = (): ServiceError => refusal(status.UNAVAILABLE, 'The server goes away.');
export const unknown = (): ServiceError => refusal(status.UNKNOWN, 'Exception was thrown by handler.');
export const deadlineExceeded = (): ServiceError => refusal(status.DEADLINE_EXCEEDED, 'Timeout.');
export const unimplemented = (what: string): ServiceError => refusal(status.UNIMPLEMENTED, `${what} is not built.`);

export const unauthenticated = (): ServiceError => refusal(status.UNAUTHENTICATED, 'Unauthenticated');

export const notLeader = ({ address, port }: Endpoint): ServiceError =>
  refusal(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': address,
    'leader-endpoint-port': String(port),
  });

export const streamDeleted = (stream: string): ServiceError =>
  refusal(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });

export const maxAppendSizeExceeded = (size: number): ServiceError =>
  refusal(status.INVALID_ARGUMENT, `Maximum Append Size of ${size} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(size),
  });
