import * as streams from '@eventstore/db-client/generated/streams_pb';
import * as shared from '@eventstore/db-client/generated/shared_pb';
import { Status as RpcStatus } from '@eventstore/db-client/generated/status_pb';
import {
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { setTimeout as sleep } from 'node:timers/promises';
import { Any } from 'google-protobuf/google/protobuf/any_pb';
import { Empty } from 'google-protobuf/google/protobuf/empty_pb';
import { type Appended, type EventLog, type Expected, MAX_APPEND_SIZE, type Proposed } from './event-log';
import { type Faults } from './faults';
import { deadlineExceeded, maxAppendSizeExceeded, notLeader, streamDeleted, unavailable, unknown } from './refusals';

/** What an append comes to: an answer of the log, a refusal, or nothing that anybody is told. */
type Answer = (Appended & { readonly twice?: boolean }) | ServiceError | 'silence';

/** Appends as both calls of the protocol make them. */
export class Appends {
  constructor(
    private readonly log: EventLog,
    private readonly faults: Faults,
  ) {}

  /** One append a call. */
  async append(
    call: ServerReadableStream<streams.AppendReq, streams.AppendResp>,
    answer: sendUnaryData<streams.AppendResp>,
  ): Promise<void> {
    let options: streams.AppendReq.Options | undefined;
    const events: Proposed[] = [];
    try {
      for await (const request of call as AsyncIterable<streams.AppendReq>) {
        options ??= request.getOptions();
        const message = request.getProposedMessage();
        if (message) events.push(proposed(message));
      }
    } catch {
      return; // The client left before it had said all.
    }
    const stream = nameOf(options?.getStreamIdentifier());
    const requiresLeader = call.metadata.get('requires-leader').length > 0;
    const result = await this.decide(stream, expectedOf(options), events, requiresLeader);
    if (result === 'silence') return;
    if (result instanceof Error) return answer(result);
    const told = unaryAnswer(stream, result, expectedOf(options));
    if (told instanceof Error) answer(told);
    else answer(null, told);
  }

  /** Many appends on one call, told apart by their correlation ids. What breaks one of them may break the call, and so all of them. */
  batchAppend(call: ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>): void {
    const open = new Map<string, { options: streams.BatchAppendReq.Options; events: Proposed[] }>();
    const requiresLeader = call.metadata.get('requires-leader').length > 0;
    call.on('error', () => undefined);
    call.on('end', () => call.end());
    call.on('data', (request: streams.BatchAppendReq) => {
      const id = request.getCorrelationId()?.getString() ?? '';
      const append = open.get(id) ?? {
        options: request.getOptions() ?? new streams.BatchAppendReq.Options(),
        events: [],
      };
      open.set(id, append);
      append.events.push(...request.getProposedMessagesList().map(proposed));
      if (!request.getIsFinal()) return;
      open.delete(id);
      const { options, events } = append;
      const stream = nameOf(options.getStreamIdentifier());
      void this.decide(stream, expectedOf(options), events, requiresLeader).then((result) => {
        if (result === 'silence' || call.cancelled) return;
        if (result instanceof Error && result.code !== status.DEADLINE_EXCEEDED) call.emit('error', result);
        else {
          const answer = batchAnswer(request.getCorrelationId(), stream, result, expectedOf(options));
          call.write(answer);
          if ('twice' in result) call.write(answer);
        }
      });
    });
  }

  private async decide(
    stream: string,
    expected: Expected,
    events: readonly Proposed[],
    requiresLeader: boolean,
  ): Promise<Answer> {
    const fault = this.faults.nextAppend();
    await this.faults.patience();
    const { leader, lateMs } = this.faults;
    if (leader && requiresLeader) return notLeader(leader);
    const commit = (): Appended => this.log.append(stream, expected, events);
    switch (fault) {
      case 'none': {
        const result = commit();
        // A server that was frozen in between has stored it and says nothing.
        await this.faults.patience();
        return result;
      }
      case 'drop_before_commit':
        return unavailable();
      case 'drop_after_commit':
        commit();
        return unavailable();
      case 'no_answer':
        commit();
        return 'silence';
      case 'commit_late':
        setTimeout(commit, lateMs);
        return 'silence';
      case 'answer_late': {
        const result = commit();
        await sleep(lateMs);
        return result;
      }
      case 'answer_twice':
        return { ...commit(), twice: true };
      case 'deadline':
        commit();
        return deadlineExceeded();
      case 'not_leader':
        return notLeader(leader ?? { address: '127.0.0.1', port: 1 });
      case 'too_large':
        return { result: 'too_large' };
      case 'unknown':
        return unknown();
    }
  }
}

type Message = streams.AppendReq.ProposedMessage | streams.BatchAppendReq.ProposedMessage;

function proposed(message: Message): Proposed {
  const map = message.getMetadataMap();
  return {
    id: message.getId()?.getString() ?? '',
    type: map.get('type') ?? '',
    contentType: map.get('content-type') ?? 'application/octet-stream',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

type Options = streams.AppendReq.Options | streams.BatchAppendReq.Options;

function expectedOf(options: Options | undefined): Expected {
  if (!options || options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) return 'stream_exists';
  return BigInt('getRevision' in options ? options.getRevision() : options.getStreamPosition());
}

export function nameOf(identifier: shared.StreamIdentifier | undefined): string {
  return Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');
}

function unaryAnswer(stream: string, result: Appended, expected: Expected): streams.AppendResp | ServiceError {
  if (result.result === 'stream_deleted') return streamDeleted(stream);
  if (result.result === 'too_large') return maxAppendSizeExceeded(MAX_APPEND_SIZE);
  if (result.result === 'bad_request') return unknown();
  const answer = new streams.AppendResp();
  if (result.result === 'success') {
    const position = new streams.AppendResp.Position();
    position.setCommitPosition(String(result.position)).setPreparePosition(String(result.position));
    const success = new streams.AppendResp.Success();
    return answer.setSuccess(success.setCurrentRevision(String(result.revision)).setPosition(position));
  }
  const wrong = new streams.AppendResp.WrongExpectedVersion();
  if (result.current === 'no_stream') wrong.setCurrentNoStream(new shared.Empty());
  else wrong.setCurrentRevision(String(result.current));
  if (expected === 'no_stream') wrong.setExpectedNoStream(new shared.Empty());
  else if (expected === 'any') wrong.setExpectedAny(new shared.Empty());
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new shared.Empty());
  else wrong.setExpectedRevision(String(expected));
  return answer.setWrongExpectedVersion(wrong);
}

function batchAnswer(
  correlationId: shared.UUID | undefined,
  stream: string,
  result: Appended | ServiceError,
  expected: Expected,
): streams.BatchAppendResp {
  const answer = new streams.BatchAppendResp().setCorrelationId(correlationId);
  answer.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)));
  if (!(result instanceof Error) && result.result === 'success') {
    const position = new shared.AllStreamPosition();
    position.setCommitPosition(String(result.position)).setPreparePosition(String(result.position));
    const success = new streams.BatchAppendResp.Success();
    return answer.setSuccess(success.setCurrentRevision(String(result.revision)).setPosition(position));
  }
  const [type, detail] = batchDetail(result, expected);
  const details = new Any();
  details.pack(detail.serializeBinary(), `event_store.client.${type}`);
  return answer.setError(new RpcStatus().setMessage(type).setDetails(details));
}

function batchDetail(
  result: Exclude<Appended, { result: 'success' }> | ServiceError,
  expected: Expected,
): [string, { serializeBinary(): Uint8Array }] {
  if (result instanceof Error) return ['Timeout', new shared.Timeout()];
  switch (result.result) {
    case 'stream_deleted':
      return ['StreamDeleted', new shared.StreamDeleted()];
    case 'too_large':
      return ['MaximumAppendSizeExceeded', new shared.MaximumAppendSizeExceeded().setMaxappendsize(MAX_APPEND_SIZE)];
    case 'bad_request':
      return ['BadRequest', new shared.BadRequest().setMessage('Bad request.')];
    case 'wrong_expected_version': {
      const wrong = new shared.WrongExpectedVersion();
      if (result.current === 'no_stream') wrong.setCurrentNoStream(new Empty());
      else wrong.setCurrentStreamRevision(String(result.current));
      if (expected === 'no_stream') wrong.setExpectedNoStream(new Empty());
      else if (expected === 'any') wrong.setExpectedAny(new Empty());
      else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new Empty());
      else wrong.setExpectedStreamPosition(String(expected));
      return ['WrongExpectedVersion', wrong];
    }
  }
}
