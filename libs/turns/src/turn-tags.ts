import type { ActiveConversation, ConversationEvent, EventOf, ItemTagging, TurnId } from '@palimpsest/conversation';
import { onlyRepeats, scanQuestion, tagTurn } from '@palimpsest/dialogue-state';
import type { DialogueStates } from '@palimpsest/read-models';
import type { AssistantVersion } from './assistants';
import type { EngineEvents } from './engine-events';
import { answerTextOf, type Exchange, exchangeOn } from './extraction/exchange';
import type { Paths } from './paths';

export interface TurnTagsOptions {
  readonly paths: Paths;
  readonly states: Pick<DialogueStates, 'at'>;
  readonly events: Pick<EngineEvents, 'broken'>;
}

/** A turn that is about to complete, with the drafts of that append, at a revision of its stream. */
export interface CompletingTurn {
  readonly conversationId: string;
  readonly revision: bigint;
  readonly turnId: TurnId;
  readonly drafts: readonly ConversationEvent[];
  /** Before the drafts. */
  readonly state: ActiveConversation;
  readonly assistant: AssistantVersion;
}

/**
 * What the messages of a turn plainly are, by rules, in the append that completes it. An extraction may say more later. A turn with tool calls is
 * not looked at: it was about something.
 */
export class TurnTags {
  constructor(private readonly options: TurnTagsOptions) {}

  /** Never rejects: a turn completes without tags as well. */
  async of(turn: CompletingTurn): Promise<readonly EventOf<'ItemTagged'>[]> {
    try {
      return (await this.tagsOf(turn)).map((tagging) => ({
        ...{ type: 'ItemTagged', data: { ...tagging, source: 'rule' }, content: null },
      }));
    } catch (error) {
      this.options.events.broken(turn.turnId, error);
      return [];
    }
  }

  private async tagsOf(turn: CompletingTurn): Promise<readonly ItemTagging[]> {
    const { conversationId, revision, turnId, drafts, state } = turn;
    const { firstNode, lastNode, start } = state.turns.get(turnId) ?? {};
    if (!firstNode || firstNode !== lastNode || !start) return [];
    const wanted = { conversationId, nodeId: firstNode, revision, turnStartedAt: BigInt(start.revision) };
    const fold = (await this.options.paths.hold(wanted)).fold.over();
    drafts.forEach((draft, at) => fold.put({ ...draft, revision: revision + 1n + BigInt(at) }));
    const found = fold.pathTo(firstNode);
    const exchange = 'path' in found ? exchangeOn(fold, found.path) : undefined;
    if (!exchange || !('path' in found)) return [];
    const [before] = found.path.slice(-2, -1);
    const texts = { question: exchange.question.text, answer: answerTextOf(exchange.last) };
    const tags = tagTurn({ ...texts, before: before ? answerTextOf(before) : '' });
    const question = tags.question ?? ((await this.repeats(turn, exchange)) ? 'repeated confirmation' : undefined);
    return [
      ...(question ? [{ nodeId: firstNode, item: exchange.questionAt, tag: question }] : []),
      ...(tags.answer ? exchange.answerAt.map((item) => ({ nodeId: firstNode, item, tag: 'chit-chat' as const })) : []),
    ];
  }

  private async repeats(
    { conversationId, revision, assistant }: CompletingTurn,
    { question, moment, first }: Exchange,
  ): Promise<boolean> {
    const schema = assistant.definition.state;
    if (!schema) return false;
    const scan = scanQuestion(question.text, schema, moment);
    if (scan.hits.length === 0) return false;
    const state = await this.options.states.at({ conversationId, nodeId: first.parent, revision });
    return onlyRepeats(question.text, scan, schema, state);
  }
}
