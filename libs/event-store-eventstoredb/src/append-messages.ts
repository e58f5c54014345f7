import * as shared from '@eventstore/db-client/generated/shared_pb';
import { BatchAppendReq, type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb';
import { AppendTooLarge, type AppendOutcome, type CheckedEvent, type ExpectedRevision } from '@palimpsest/event-store';
import { Timestamp } from 'google-protobuf/google/protobuf/timestamp_pb';
import { Refused, StreamTombstoned } from './failures';
import { metadataText } from './stored-events';

export interface Append {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly CheckedEvent[];
  /** Bytes of data alone. */
  readonly bytes: number;
}

/**
 * Milliseconds after which the server lets go of an append by its own clock. Long beside our own timeout, which is what counts: with a
 * short one, a clock that is wrong by some seconds would refuse every append.
 */
const SERVER_DEADLINE_MS = 60_000;

/** One append as one message. Its bytes are those that were checked, marked as JSON, so that an operator can read them in the server's own pages. */
export function toRequest({ stream, expected, events }: Append, correlationId: string): BatchAppendReq {
  const options = new BatchAppendReq.Options()
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)))
    .setDeadline(Timestamp.fromDate(new Date(Date.now() + SERVER_DEADLINE_MS)));
  if (expected === 'no_stream') options.setNoStream(new shared.Empty());
  else options.setStreamPosition(String(expected));
  const request = new BatchAppendReq()
    .setCorrelationId(new shared.UUID().setString(correlationId))
    .setOptions(options)
    .setIsFinal(true);
  return request.setProposedMessagesList(events.map((event, index) => toMessage(event, events.length - 1 - index)));
}

function toMessage(event: CheckedEvent, rest: number): BatchAppendReq.ProposedMessage {
  const message = new BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(event.id))
    .setData(Buffer.from(event.data))
    .setCustomMetadata(Buffer.from(metadataText(event.metadata, rest)));
  message.getMetadataMap().set('type', event.type).set('content-type', 'application/json');
  return message;
}

/** The server did not decide, or we don't know what it says: the same append again settles it. */
export class Undecided extends Error {
  override readonly name = 'Undecided';
}

/** What an answer means. A success may come without a position: the answer then holds none. */
export function outcomeOf(append: Append, answer: BatchAppendResp): AppendOutcome | { readonly revision: bigint } {
  const success = answer.getSuccess();
  if (success) {
    const revision = BigInt(success.getCurrentRevision());
    const position = success.getPosition();
    if (!position) return { revision };
    return { outcome: 'stored', revision, position: BigInt(position.getCommitPosition()) };
  }
  const details = answer.getError()?.getDetails();
  const kind = details?.getTypeName().replace(/^event_store\.client\./, '');
  switch (kind) {
    case 'WrongExpectedVersion': {
      const wrong = shared.WrongExpectedVersion.deserializeBinary(details!.getValue_asU8());
      const actual = wrong.hasCurrentStreamRevision() ? BigInt(wrong.getCurrentStreamRevision()) : 'no_stream';
      return { outcome: 'conflict', expected: append.expected, actual };
    }
    case 'StreamDeleted':
      throw new StreamTombstoned(append.stream);
    case 'MaximumAppendSizeExceeded': {
      const limit = shared.MaximumAppendSizeExceeded.deserializeBinary(details!.getValue_asU8()).getMaxappendsize();
      throw new AppendTooLarge(append.bytes, limit);
    }
    case 'AccessDenied':
    case 'BadRequest':
      throw new Refused(`EventStoreDB refuses an append to ${append.stream}: ${kind}.`);
    default:
      throw new Undecided(`EventStoreDB answers ${kind ?? answer.getError()?.getMessage() ?? 'nothing that is known'}`);
  }
}
