import { setImmediate as breathe } from 'node:timers/promises';
import { type ContextChoice, contextChoice } from '@palimpsest/assistant';
import { diffItems, shownItems } from '@palimpsest/audit';
import { EventUnreadable, KeyLost, Sealed } from '@palimpsest/event-store';
import { type ConversationRow, conversationStream } from '@palimpsest/read-models';
import { type AssistantVersion, isChanged, type Reassembly, type ReassembledRequest } from '@palimpsest/turns';
import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { differenceView, sumsOf } from '../nodes/difference-view';
import { answer, type Answer, refused } from '../refusal';
import { System } from '../system/system';
import { BacktestSums } from './backtest-sums';
import { type BacktestPageView, type BacktestWanted, type ChangedRequestView, RunBacktest } from './backtest.query';

/** Conversations that one page looks at, at most. */
const CONVERSATIONS = 50;
/** Items that are shown of a request that changes. */
const DIFFERENCES = 5;

interface Test extends Pick<BacktestWanted, 'from' | 'limit'> {
  readonly policy: ContextChoice | undefined;
  readonly sums: BacktestSums;
  readonly items: ChangedRequestView[];
}

@QueryHandler(RunBacktest)
export class RunBacktestHandler implements IQueryHandler<RunBacktest> {
  constructor(private readonly system: System) {}

  async execute({ caller: { tenantId }, wanted }: RunBacktest): Promise<Answer<BacktestPageView>> {
    const { assistants, tree, limits } = this.system;
    const { assistantId, from, cursor = -1n, limit } = wanted;
    const newest = await assistants.newest(assistantId);
    if (newest?.tenantId !== tenantId) return refused('not_found', 'There is no such assistant.');
    const policy = policyOf(wanted, newest);
    if (!policy.ok) return policy;
    const page = { from, after: cursor, limit: CONVERSATIONS };
    const { conversations, count } = await tree.conversationsOf({ tenantId, assistantId }, page);
    const test: Test = { from, limit, policy: policy.value, sums: new BacktestSums(), items: [] };
    let done = 0;
    for (const row of conversations) {
      await this.again(row, test);
      done += 1;
      if (test.sums.requests >= limits.maxBacktestRequests) break;
    }
    const left = count - done;
    const next = left > 0 ? String(conversations[done - 1]?.started_position) : null;
    return answer({ conversations: done, left, ...test.sums.view(), items: test.items, next });
  }

  /** One conversation at a time is held. */
  private async again(row: ConversationRow, test: Test): Promise<void> {
    const { log, identities } = this.system;
    const { conversation_id: conversationId, assistant_id, source_node_id } = row;
    const reassembly = this.system.reassembly({
      ...{ from: test.from, policy: test.policy, growsFrom: source_node_id ?? undefined },
      assistantAt: (version) => this.version(assistant_id, version),
    });
    try {
      for (const source of [...(await identities.sourcesOf(conversationId))].reverse())
        await inherit(reassembly, log, source);
      for await (const event of log.following(conversationId, -1n)) {
        const made = await reassembly.next(event);
        if (made === undefined) continue;
        test.sums.add(made);
        if (typeof made === 'string') continue;
        if (isChanged(made) && test.items.length < test.limit) test.items.push(await this.shown(conversationId, made));
        // Turns that run in this process go first.
        await breathe();
      }
    } catch (error) {
      if (!(error instanceof Sealed || error instanceof KeyLost || error instanceof EventUnreadable)) throw error;
      test.sums.unreadable += 1;
    }
  }

  private async version(assistantId: string, version: number): Promise<AssistantVersion> {
    const found = await this.system.assistants.find(assistantId, version);
    if (!found) throw new Error(`Version ${version} of assistant ${assistantId} is named and is not there.`);
    return found;
  }

  private async shown(conversationId: string, made: ReassembledRequest): Promise<ChangedRequestView> {
    const { nodeId, turnId, position, revision, before, after, wouldSummarise, tooLarge } = made;
    const { pieces } = await this.system.replayer.shown(conversationId, nodeId, revision);
    const items = diffItems(shownItems(pieces), shownItems(made.pieces())).map(differenceView);
    const differences = items.filter(({ change }) => change !== 'same').slice(0, DIFFERENCES);
    const sizes = { before: { bytes: before.bytes, tokens: before.tokens }, after: { bytes: after.bytes, tokens: after.tokens } }; // prettier-ignore
    return { conversationId, nodeId, turnId, position, ...sizes, wouldSummarise, tooLarge, sums: sumsOf(items), differences }; // prettier-ignore
  }
}

/** Defaults are those for the model of the newest version. Who writes a summary is of no concern where none is written. */
function policyOf({ policy }: BacktestWanted, { definition }: AssistantVersion): Answer<ContextChoice | undefined> {
  if (!policy) return answer(undefined);
  const { model: _, ...summaries } = policy.summaries ?? {};
  const made = contextChoice({ ...policy, summaries }, definition.model);
  return 'choice' in made ? answer(made.choice) : refused('validation_failed', made.problem);
}

async function inherit(
  reassembly: Reassembly,
  log: System['log'],
  { conversationId, revision }: { readonly conversationId: string; readonly revision: number },
): Promise<void> {
  for await (const event of log.following(conversationId, -1n)) {
    if (event.revision > BigInt(revision)) return;
    reassembly.inherit(event, conversationStream(conversationId));
  }
}
