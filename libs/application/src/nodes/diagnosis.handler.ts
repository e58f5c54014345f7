import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { ReplayBroken } from '@palimpsest/audit';
import type { StateSchema } from '@palimpsest/dialogue-state';
import { assistantVersionAt, type ConversationIdentity } from '@palimpsest/turns';
import { conversationStream, type NodeRow } from '@palimpsest/read-models';
import type { Answer } from '../refusal';
import { System } from '../system/system';
import {
  type Examined,
  historyTooLong,
  questionsRead,
  stateNotUpdated,
  summaryLostValue,
  unrecorded,
  wholeIn,
} from './diagnose';
import type { DiagnosisView, UpdateEvidence } from './diagnosis-view';
import { ifExact } from './node.handlers';
import { DiagnoseNode } from './node.queries';
import { ownNode } from './own-node';
import { readLineage } from './read-lineage';

/** Questions in which a rule reads a value, the latest ones: the state at each is one query. */
const QUESTIONS_LOOKED_AT = 50;

@QueryHandler(DiagnoseNode)
export class DiagnoseNodeHandler implements IQueryHandler<DiagnoseNode> {
  constructor(private readonly system: System) {}

  async execute({ caller, nodeId, atLeast }: DiagnoseNode): Promise<Answer<DiagnosisView>> {
    return ownNode(this.system, caller, nodeId, atLeast, (row) => ifExact(nodeId, () => this.diagnose(row)));
  }

  private async diagnose(row: NodeRow): Promise<DiagnosisView> {
    const { conversation_id: conversationId, node_id: nodeId, requested_revision: requestedAt } = row;
    const { definition, revision } = await this.known(row);
    const examined = { ...(await readLineage(this.system, row)), row, definition };
    const [requested] = await this.system.log.at(conversationId, [requestedAt]);
    if (requested?.type !== 'CallRequested') throw new ReplayBroken(`Node ${nodeId} has no request at ${requestedAt}.`);
    const schema = examined.definition.state;
    return {
      nodeId,
      historyTooLong: historyTooLong(
        examined,
        requested,
        await this.system.tree.callsUnder('summary', wholeIn(examined)),
      ),
      summaryLostValue: summaryLostValue(examined, await this.system.states.at({ conversationId, nodeId, revision })),
      stateNotUpdated: schema
        ? stateNotUpdated([...(await this.unread(examined, schema, revision)), ...(await this.extractions(examined))])
        : { answer: 'unknown', evidence: [] },
    };
  }

  private async unread(examined: Examined, schema: StateSchema, end: bigint): Promise<readonly UpdateEvidence[]> {
    const { row, lineage, sourceEnds } = examined;
    const questions = questionsRead(examined, schema);
    const found: UpdateEvidence[] = [];
    for (const question of questions.filter(({ hits }) => hits.length > 0).slice(-QUESTIONS_LOOKED_AT)) {
      const { nodeId } = question;
      const conversationId = await this.ownerOf(row, nodeId);
      const revision = BigInt(sourceEnds.get(conversationStream(conversationId)) ?? end);
      const state = await this.system.states.at({ conversationId, nodeId, revision });
      found.push(...unrecorded(question, schema, state));
    }
    const turn = lineage.at(-1)?.turnId ?? null;
    const own = lineage.find(({ turnId, first }) => first && turnId !== null && turnId === turn);
    const unsettled = questions.find(({ nodeId }) => nodeId === own?.nodeId)?.mayChange ?? [];
    return [...found, ...unsettled.map((field) => ({ what: 'unsettled' as const, nodeId: own?.nodeId ?? '', field }))];
  }

  /** Of the turns before: that of the request's own turn reads the answer to it. */
  private async extractions({ row, lineage }: Examined): Promise<readonly UpdateEvidence[]> {
    const before = lineage.map(({ nodeId }) => nodeId).filter((nodeId) => nodeId !== row.node_id);
    const under = await this.system.tree.callsUnder('extraction', before);
    return under.flatMap(({ node_id, conversation_id, status, reason, ended_revision }): readonly UpdateEvidence[] => {
      const nodeId = node_id;
      if (node_id === row.node_id) return [];
      if (status === 'failed') return [{ what: 'extraction_failed', nodeId, ...(reason !== null && { reason }) }];
      const isLate = conversation_id === row.conversation_id && (ended_revision ?? row.requested_revision) >= row.requested_revision; // prettier-ignore
      return isLate ? [{ what: 'extraction_late', nodeId }] : [];
    });
  }

  private async ownerOf(row: NodeRow, nodeId: string): Promise<string> {
    return (await this.system.tree.node(nodeId))?.conversation_id ?? row.conversation_id;
  }

  /** What is known by now, too: rules find a value in a question behind the request that it is asked in. */
  private async known({ conversation_id, node_id }: NodeRow) {
    const { writer, identities, assistants } = this.system;
    const { tenantId, assistantId, assistantVersion } = (await identities.find(
      conversation_id,
    )) as ConversationIdentity;
    const { state, revision } = await writer.read(conversation_id, tenantId);
    const version = state.status === 'active' ? assistantVersionAt(state, node_id) : undefined;
    const found = await assistants.find(assistantId, version ?? assistantVersion);
    if (!found) throw new Error(`Version ${version} of assistant ${assistantId} is named and is not there.`);
    return { definition: found.definition, revision };
  }
}
