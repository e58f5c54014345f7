import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import type { RunningText } from '@palimpsest/turns';
import { answer, type Answer, refused } from '../refusal';
import { isSameToken } from '../system/internal-token';
import { System } from '../system/system';
import { FollowRunningText } from './follow-running-text.query';

@QueryHandler(FollowRunningText)
export class FollowRunningTextHandler implements IQueryHandler<FollowRunningText> {
  constructor(private readonly system: System) {}

  async execute({
    token,
    conversationId,
    nodeId,
    client,
  }: FollowRunningText): Promise<Answer<AsyncIterable<RunningText>>> {
    if (!isSameToken(token, this.system.internalToken)) return refused('not_found', 'There is nothing here.');
    return answer(this.system.feed.running(conversationId, nodeId, client));
  }
}
