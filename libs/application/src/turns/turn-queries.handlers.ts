import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { answer, type Answer, refused } from '../refusal';
import { ownTurn } from '../system/guard';
import { System } from '../system/system';
import type { TurnFrame, TurnView } from '../views';
import { turnFrames } from './turn-frames';
import { AwaitTurn, FollowTurn, GetTurn } from './turn.queries';

@QueryHandler(GetTurn)
export class GetTurnHandler implements IQueryHandler<GetTurn> {
  constructor(private readonly system: System) {}

  async execute({ caller, conversationId, turnId }: GetTurn): Promise<Answer<TurnView>> {
    return ownTurn(this.system, caller, conversationId, turnId, async (conversation, start) =>
      answer(await this.system.turns.now(conversation.conversationId, turnId, start)),
    );
  }
}

@QueryHandler(AwaitTurn)
export class AwaitTurnHandler implements IQueryHandler<AwaitTurn> {
  constructor(private readonly system: System) {}

  async execute({ caller, conversationId, turnId, client, from }: AwaitTurn): Promise<Answer<TurnView>> {
    return ownTurn(this.system, caller, conversationId, turnId, async (conversation, start) => {
      const turn = await this.system.turns.settled(conversation.conversationId, turnId, start, client, from);
      return turn ? answer(turn) : refused('behind', 'The client left; the turn goes on. Ask for it by its id.');
    });
  }
}

@QueryHandler(FollowTurn)
export class FollowTurnHandler implements IQueryHandler<FollowTurn> {
  constructor(private readonly system: System) {}

  async execute({
    caller,
    conversationId,
    turnId,
    client,
    lastEventId,
  }: FollowTurn): Promise<Answer<AsyncIterable<TurnFrame>>> {
    return ownTurn(this.system, caller, conversationId, turnId, async (conversation, start) =>
      answer(turnFrames(this.system.turns, conversation.conversationId, turnId, start, client, lastEventId)),
    );
  }
}
