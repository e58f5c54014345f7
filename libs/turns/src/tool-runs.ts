import type { AssistantDefinition, ToolDefinition } from '@palimpsest/assistant';
import type { QuestionMoment, ReceivedItem } from '@palimpsest/context';
import type { ActiveConversation, ConversationCommand, EventOf, NodeId } from '@palimpsest/conversation';
import type { DialogueStates } from '@palimpsest/read-models';
import type { Tool, ToolRegistry, ToolResult, ToolRun } from '@palimpsest/tools';
import type { Assistants } from './assistants';
import type { Carry, TurnWriter } from './carry';
import { dialogueNotes } from './dialogue-notes';
import type { Paths } from './paths';
import type { Statements } from './statements';

export interface ToolRunsOptions {
  readonly registry: ToolRegistry;
  readonly assistants: Assistants;
  readonly paths: Paths;
  readonly states: DialogueStates;
  readonly statements: Statements;
  /** UTF-8 bytes of a result's text. */
  readonly maxToolResultBytes: number;
  /** How long a lease lives without a renewal. Milliseconds. */
  readonly leaseMs: number;
}

/** A tool call, and what is folded where it stands. */
interface CallOnPath {
  readonly call: Extract<ReceivedItem, { type: 'tool_call' }>;
  readonly folded: (handle: string) => Promise<string | undefined>;
  readonly nodeId: NodeId;
  readonly question: string;
  readonly moment: QuestionMoment | undefined;
}

type Start = EventOf<'ToolExecutionStarted'>['data'];

/** Runs tools whose start this process has stored, and records what came of it, whatever has become of the turn. */
export class ToolRuns {
  constructor(private readonly options: ToolRunsOptions) {}

  async run(carry: Carry, { toolCallId, runId }: Start, state: ActiveConversation, writer: TurnWriter): Promise<void> {
    const { call, folded, ...place } = await this.callOf(carry, toolCallId, state);
    const assistant = await this.assistantOf(carry, state);
    const definition = assistant?.tools.find((tool) => tool.name === call.name);
    const results = { inputCap: assistant?.model.inputCap ?? 0, folded };
    // A process that froze since the start was stored finds its lease over. It gives up the carry: whoever takes the turn over, be it
    // this very process, closes the call.
    if (definition?.effect === 'write' && performance.now() - carry.renewedAt > this.options.leaseMs)
      throw new Error(`The lease was over before tool call ${toolCallId} could run.`);
    const notes =
      assistant &&
      place.moment &&
      dialogueNotes(this.options.states, this.options.statements, {
        ...place,
        moment: place.moment,
        carry,
        state,
        writer,
        assistant,
      });
    const asked = { toolCallId, runId, arguments: call.arguments.text, results, state: notes };
    const result = this.bounded(await this.execute(carry, definition, asked));
    const { text, isError, display } = result;
    // Cut short since the turn ended, was taken over or let go: that says nothing of the tool, and whoever carries the turn runs it again.
    if (isError && definition?.effect === 'read' && carry.abort.signal.aborted) return;
    const command: ConversationCommand = {
      type: 'RecordToolResult',
      carrier: carry.carrier,
      toolCallId,
      runId,
      isError,
      content: { text, ...(display === undefined ? {} : { display }) },
      bounds: writer.bounds(),
    };
    await writer.write(carry.conversation, command, carry.context, { persist: 'until-stored' });
  }

  private async callOf(carry: Carry, toolCallId: string, state: ActiveConversation): Promise<CallOnPath> {
    const { conversationId } = carry.conversation;
    const nodeId = state.toolCalls.get(toolCallId)?.nodeId ?? null;
    const turnStartedAt = BigInt(state.turns.get(carry.turnId)?.start?.revision ?? 0);
    const { paths } = this.options;
    const held = await paths.hold({
      conversationId,
      nodeId,
      revision: BigInt(state.revision),
      turnStartedAt,
    });
    const { fold } = held;
    const items = nodeId === null ? [] : (fold.node(nodeId)?.received?.items ?? []);
    const call = items.find((item) => item.type === 'tool_call' && item.toolCallId === toolCallId);
    if (call?.type !== 'tool_call' || nodeId === null)
      throw new Error(`Tool call ${toolCallId} was started, and its node does not hold it.`);
    const question = fold.questionOf(carry.turnId)?.text ?? '';
    const moment = fold.momentOf(carry.turnId);
    return { call, folded: (handle) => paths.foldedOn(held, nodeId, handle), nodeId, question, moment };
  }

  private async assistantOf(carry: Carry, state: ActiveConversation): Promise<AssistantDefinition | undefined> {
    const { assistantId, assistantVersion } = carry.conversation;
    const version = state.turns.get(carry.turnId)?.start?.assistantVersion ?? assistantVersion;
    return (await this.options.assistants.find(assistantId, version))?.definition;
  }

  private async execute(
    carry: Carry,
    definition: ToolDefinition | undefined,
    asked: Pick<ToolRun, 'toolCallId' | 'runId' | 'arguments' | 'results' | 'state'>,
  ): Promise<ToolResult> {
    let tool: Tool | undefined;
    try {
      tool = definition && (await this.options.registry.find(definition));
    } catch (error) {
      return { isError: true, text: `The tool cannot be had now, and nothing was run: ${messageOf(error)}` };
    }
    if (!definition || !tool)
      return { isError: true, text: 'The tool is no longer configured on this installation. Nothing was run.' };
    const timeout = AbortSignal.timeout(tool.timeoutMs);
    // A write tool that has begun is not cut short by a cancel: its result is worth more than its absence.
    const signal = definition.effect === 'read' ? AbortSignal.any([timeout, carry.abort.signal]) : timeout;
    const { tenantId, conversationId } = carry.conversation;
    try {
      return await tool.run({ ...asked, tenantId, conversationId, signal });
    } catch (error) {
      if (timeout.aborted)
        return {
          isError: true,
          text: `The tool gave no result within ${tool.timeoutMs} ms.${definition.effect === 'write' ? ' Whether it had its effect is not known.' : ''}`,
        };
      return {
        isError: true,
        text: `The tool could not be run: ${messageOf(error)}`,
      };
    }
  }

  private bounded(result: ToolResult): ToolResult {
    const bytes = Buffer.byteLength(result.text);
    const limit = this.options.maxToolResultBytes;
    if (bytes <= limit) return result;
    return {
      isError: true,
      text: `The tool's result has ${bytes} bytes; a result may have ${limit}. It was not kept. Ask for less.`,
    };
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
