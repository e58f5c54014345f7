import { atPlace, type RestsOn } from '@palimpsest/audit';
import { type ConversationRecord, conversationStream } from '@palimpsest/read-models';
import type { System } from '../system/system';
import type { LineageRoute, RestsOnView } from './lineage.views';

const ASSISTANT = 'assistant-';
const CONVERSATION = conversationStream('');

/** What the events are that an answer rested on, in the same order. Rejects with `Sealed` where one was erased. */
export async function restsOnViews(
  { log, lineage }: System,
  rests: readonly RestsOn[],
): Promise<readonly RestsOnView[]> {
  const events = await eventsAt(log, rests);
  const calls = [...events.values()].flatMap(({ type, data }) =>
    type === 'ToolExecuted' || type === 'ToolResultFolded' ? [data.toolCallId] : [],
  );
  const tools = new Map((await lineage.tree.toolCalls(calls)).map((row) => [row.tool_call_id, row.tool]));
  return rests.map((one): RestsOnView => {
    const { stream, revision } = atPlace(one.place);
    const event = events.get(one.place);
    const how = { via: [...one.via], ...(one.summaries.size > 0 && { summaries: [...one.summaries] }) };
    if (stream.startsWith(ASSISTANT))
      return {
        ...{ type: 'assistant_version', assistantId: stream.slice(ASSISTANT.length), version: Number(revision) + 1 },
        ...{ ...how, revision },
      };
    if (!event) throw new Error(`An answer rests on ${one.place}, and nothing stands there.`);
    const conversationId = stream.slice(CONVERSATION.length);
    const said = whatIs(event, one, conversationId);
    const tool = said.toolCallId === undefined ? undefined : tools.get(said.toolCallId);
    return { ...how, ...said, ...(tool && { tool }), conversationId, eventId: event.id, revision };
  });
}

type Said = Omit<RestsOnView, 'via' | 'revision'> & { readonly via?: readonly LineageRoute[] };

function whatIs(event: ConversationRecord, { summary, via }: RestsOn, conversationId: string): Said {
  switch (event.type) {
    case 'TurnQueued':
    case 'TurnStarted': {
      const { turnId } = event.data;
      return { type: 'user', nodeId: `${turnId}-1`, turnId };
    }
    case 'CallRequested':
      return { type: 'instruction', nodeId: event.data.nodeId };
    case 'CallSucceeded':
      return { type: summary === undefined ? 'assistant' : 'summary', nodeId: event.data.nodeId };
    case 'ToolExecuted':
      return resultOf(event.data.toolCallId);
    case 'ToolResultFolded':
      return {
        ...resultOf(event.data.toolCallId),
        via: [...via].map((route) => (route === 'verbatim' ? 'folded' : route)),
      };
    case 'StateAsserted':
    case 'StateRetracted': {
      const { field, nodeId } = event.data;
      return { type: 'assertion', assertion: `${conversationId}@${event.revision}`, field, nodeId };
    }
    default:
      throw new Error(`An answer rests on an event ${event.type}, which no request holds.`);
  }
}

const resultOf = (toolCallId: string): Said => ({
  ...{ type: 'tool_result', toolCallId, nodeId: toolCallId.slice(0, toolCallId.lastIndexOf('-')) },
});

async function eventsAt(
  log: System['log'],
  rests: readonly RestsOn[],
): Promise<ReadonlyMap<string, ConversationRecord>> {
  const wanted = new Map<string, bigint[]>();
  for (const { place } of rests) {
    const { stream, revision } = atPlace(place);
    if (stream.startsWith(CONVERSATION)) wanted.set(stream, [...(wanted.get(stream) ?? []), revision]);
  }
  const found = new Map<string, ConversationRecord>();
  for (const [stream, revisions] of wanted)
    for (const event of await log.at(stream.slice(CONVERSATION.length), revisions))
      found.set(`${stream}@${event.revision}`, event);
  return found;
}
