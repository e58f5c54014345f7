import type { ConversationEvent, NodeId, TurnId } from '@palimpsest/conversation';
import type { StoredEvent } from '@palimpsest/event-store';
import { newestShape } from '../newest-shape';

/** What one batch of events changes, row by row: new rows whole, rows of earlier batches by what changed. */
export class TreeChanges {
  readonly conversations = new Rows();
  readonly turns = new Rows();
  readonly nodes = new Rows();
  readonly calls = new Rows();
  readonly clears = new Rows();
  readonly folds = new Rows();
  readonly segments = new Rows();
  readonly tags = new Rows();
  readonly failedAttempts = new Rows();
  readonly unfinished = new Rows();
  /** Conversations that are over: nothing of them stays, whatever of it this batch or an earlier one wrote. */
  readonly deleted = new Set<string>();

  put(stored: StoredEvent): void {
    const event = newestShape(stored);
    const conversationId = event.stream.slice('conversation-'.length);
    const [revision, position] = [String(event.revision), String(event.position)];
    if (event.type === 'ConversationStarted') {
      const { data } = event as unknown as ConversationEvent & { type: 'ConversationStarted' };
      this.conversations.insert(conversationId, {
        conversation_id: conversationId,
        tenant_id: event.metadata.tenantId,
        assistant_id: data.assistantId,
        assistant_version: data.assistantVersion,
        zone: data.zone,
        head: data.source?.nodeId ?? null,
        source_conversation_id: data.source?.conversationId ?? null,
        source_node_id: data.source?.nodeId ?? null,
        revision,
        position,
        started_position: position,
        started_at: event.metadata.occurredAt,
      });
      return;
    }
    this.conversations.patch(conversationId, { revision, position });
    this.putTurn(conversationId, revision, event as unknown as ConversationEvent);
    this.putUsage(conversationId, event);
  }

  private putUsage(conversation_id: string, { metadata, revision: at, ...stored }: StoredEvent): void {
    const event = stored as unknown as ConversationEvent;
    if (event.type === 'CallRequested') {
      const { nodeId, tokens, prefix } = event.data;
      this.nodes.patch(nodeId, {
        requested_at: metadata.occurredAt,
        estimated_tokens: tokens?.estimated ?? null,
        prefix_bytes: prefix?.bytes ?? null,
        ...{ broken_by: prefix?.brokenBy?.event ?? null, broken_in: prefix?.brokenBy?.nodeId ?? null },
      });
    } else if (event.type === 'CallSucceeded') {
      const { nodeId, usage } = event.data;
      if (usage.cacheWriteTokens !== undefined)
        this.nodes.patch(nodeId, { cache_write_tokens: usage.cacheWriteTokens });
    } else if (event.type === 'CallAttemptFailed') {
      const { nodeId: node_id } = event.data;
      const revision = String(at);
      this.failedAttempts.insert(`${node_id}@${revision}`, { conversation_id, node_id, revision });
    }
  }

  private putTurn(conversation_id: string, revision: string, event: ConversationEvent): void {
    switch (event.type) {
      case 'TurnQueued':
        this.turn(event.data.turnId, conversation_id, {
          kind: 'ask',
          status: 'queued',
          parent: null,
          question_revision: revision,
        });
        return;
      case 'TurnStarted': {
        const { turnId, kind, parent } = event.data;
        this.turn(turnId, conversation_id, { kind, parent, status: 'running', question_revision: revision });
        return;
      }
      case 'CallRequested': {
        const { nodeId, parent, kind, provider, model, length, exact } = event.data;
        this.nodes.insert(nodeId, {
          ...{
            node_id: nodeId,
            conversation_id,
            parent,
            kind,
            status: 'pending',
            turn_id: event.data.kind === 'turn' ? event.data.turnId : null,
            origin: event.data.kind === 'compaction' ? event.data.origin : null,
            provider,
            model,
            length,
            exact,
          },
          requested_revision: revision,
        });
        this.begins(conversation_id, nodeId);
        return;
      }
      case 'CallSucceeded': {
        const { nodeId, usage, toolCalls, paused } = event.data;
        this.ends(conversation_id, nodeId);
        this.nodes.patch(nodeId, {
          ...{ status: 'succeeded', ended_revision: revision, ...(paused && { paused }) },
          ...{
            input_tokens: usage.inputTokens,
            cached_input_tokens: usage.cachedInputTokens,
            output_tokens: usage.outputTokens,
          },
        });
        for (const { toolCallId, tool, effect } of toolCalls)
          this.calls.insert(toolCallId, { tool_call_id: toolCallId, node_id: nodeId, tool, effect });
        return;
      }
      case 'CallFailed':
        this.ends(conversation_id, event.data.nodeId);
        this.nodes.patch(event.data.nodeId, { status: 'failed', ended_revision: revision, reason: event.data.reason });
        return;
      case 'ToolExecutionStarted':
        this.calls.patch(event.data.toolCallId, { started: true });
        return;
      case 'ToolExecuted': {
        const { toolCallId, display = false, synthetic } = event.data;
        const interrupted = synthetic === 'interrupted';
        this.calls.patch(toolCallId, { executed_revision: revision, display, interrupted });
        return;
      }
      case 'ToolResultFolded': {
        const { toolCallId, nodeId } = event.data;
        const fold = { conversation_id, node_id: nodeId, tool_call_id: toolCallId, revision };
        this.folds.insert(`${nodeId}/${toolCallId}`, fold);
        return;
      }
      case 'ItemTagged': {
        const { nodeId: node_id } = event.data;
        this.tags.insert(`${conversation_id}@${revision}`, { conversation_id, node_id, revision });
        return;
      }
      case 'SummaryFolded': {
        const { summary, nodeId: node_id, from: first_node, to: last_node } = event.data;
        const run = { first_node, last_node, revision };
        this.segments.insert(`${node_id}/${summary}`, { conversation_id, node_id, summary, ...run });
        return;
      }
      case 'TurnCompleted':
      case 'TurnFailed':
      case 'TurnCancelled':
        this.ends(conversation_id, event.data.turnId);
        this.turns.patch(event.data.turnId, { status: ended[event.type], ended_revision: revision });
        return;
      case 'HeadMoved':
        this.conversations.patch(conversation_id, { head: event.data.to });
        return;
      case 'ConversationCleared':
        this.conversations.patch(conversation_id, { head: null });
        this.clears.insert(`${conversation_id}@${revision}`, { conversation_id, revision });
        return;
      case 'ConversationDeleted':
        this.deleted.add(conversation_id);
        return;
      default:
        return;
    }
  }

  /** A queued turn that starts has a row already. */
  private turn(turn_id: TurnId, conversation_id: string, row: Row): void {
    this.turns.insert(turn_id, { turn_id, conversation_id, ...row });
    this.begins(conversation_id, turn_id, turn_id);
  }

  private begins(conversation_id: string, id: NodeId, turn_id: TurnId | null = null): void {
    this.unfinished.insert(id, { conversation_id, id, turn_id });
  }

  private ends(conversation_id: string, id: NodeId): void {
    this.unfinished.remove(id, { conversation_id, id });
  }
}

const ended = { TurnCompleted: 'completed', TurnFailed: 'failed', TurnCancelled: 'cancelled' } as const;

export type Row = Record<string, unknown>;

/** Rows of one table by key: those that this batch inserts, and changes to those that were there. */
export class Rows {
  readonly inserted = new Map<string, Row>();
  readonly patched = new Map<string, Row>();
  /** By their key's columns. */
  readonly removed = new Map<string, Row>();

  insert(key: string, row: Row): void {
    this.removed.delete(key);
    this.inserted.set(key, row);
  }

  patch(key: string, change: Row): void {
    const fresh = this.inserted.get(key);
    if (fresh) Object.assign(fresh, change);
    else this.patched.set(key, { ...this.patched.get(key), ...change });
  }

  remove(key: string, row: Row): void {
    // It may be there from an earlier batch all the same: a queued turn has its row when it starts.
    this.inserted.delete(key);
    this.removed.set(key, row);
  }
}
