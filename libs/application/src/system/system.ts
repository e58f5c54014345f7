import type { EventCodec, EventStore, KeyRing } from '@palimpsest/event-store';
import type { Backwards, Forwards, Replayer } from '@palimpsest/audit';
import type { ModelChoice } from '@palimpsest/assistant';
import type { Limits } from '@palimpsest/platform';
import type { ModelRegistry } from '@palimpsest/providers';
import type {
  Approvals,
  ConversationLog,
  ConversationTree,
  DialogueStates,
  Projector,
  TreeBelow,
} from '@palimpsest/read-models';
import type { ToolRegistry } from '@palimpsest/tools';
import type {
  Assistants,
  Compactor,
  ConversationIdentities,
  ConversationWriter,
  Reassembly,
  ReassemblyOptions,
  Statements,
  TurnEngine,
  TurnFeed,
  WorkCalls,
} from '@palimpsest/turns';
import type { AssistantWriter } from '../assistants/assistant-writer';
import type { OwnProjections } from '../projections/own-projections';
import type { ImportWriter } from '../imports/import-writer';
import type { ProjectionOperations } from '../projections/projection-operations';
import type { ShownStatements } from '../lineage/shown-statements';
import type { PlaybookWriter } from '../playbooks/playbook-writer';
import type { TurnReader } from '../turns/turn-reader';

export interface LineageWork {
  readonly tree: TreeBelow;
  readonly forwards: Forwards;
  readonly backwards: Backwards;
  readonly shown: ShownStatements;
}

/** What the handlers of commands and queries work with. Made once a process, by `createSystem`. */
export abstract class System {
  abstract readonly store: EventStore;
  abstract readonly codec: EventCodec;
  abstract readonly keys: KeyRing;
  abstract readonly log: ConversationLog;
  abstract readonly tree: ConversationTree;
  /** Of the tree. */
  abstract readonly projector: Projector;
  /** What waits for a person, and how far that is known. */
  abstract readonly inbox: { readonly approvals: Approvals; readonly projector: Projector };
  abstract readonly assistants: Assistants;
  abstract readonly assistantWriter: AssistantWriter;
  abstract readonly playbooks: PlaybookWriter;
  abstract readonly imports: ImportWriter;
  abstract readonly identities: ConversationIdentities;
  abstract readonly writer: ConversationWriter;
  abstract readonly engine: TurnEngine;
  /** Calls outside a turn. */
  abstract readonly work: WorkCalls;
  abstract readonly compactor: Compactor;
  abstract readonly feed: TurnFeed;
  abstract readonly states: DialogueStates;
  abstract readonly statements: Statements;
  /** What one process of this installation shows another. */
  abstract readonly internalToken: string;
  abstract readonly turns: TurnReader;
  abstract readonly replayer: Replayer;
  /** Of one conversation: its requests once more, by another policy. */
  abstract reassembly(wanted: Pick<ReassemblyOptions, 'assistantAt' | 'from' | 'policy' | 'growsFrom'>): Reassembly;
  /** What answers rested on, and which rest on something. */
  abstract readonly lineage: LineageWork;
  abstract readonly tools: ToolRegistry;
  abstract readonly projections: ProjectionOperations;
  /** The operator's own. */
  abstract readonly own: OwnProjections;
  abstract projectorOf(projection: string): Projector | undefined;
  /** Of this installation, random: with it a person's id becomes a subject's. */
  abstract readonly subjectSalt: string;
  abstract readonly limits: Limits;
  /** What is known of the models that assistants may name. */
  abstract readonly models: ModelRegistry;
  /** The model of an assistant that names none; by the keys at hand. */
  abstract readonly defaultModel: Pick<ModelChoice, 'provider' | 'name'>;
  /** Whether this installation can call a provider. */
  abstract hasProvider(name: ModelChoice['provider']): boolean;
  /** Of a deleted conversation: whatever this process holds of it in memory, and its snapshot. Idempotent. */
  abstract forget(conversationId: string): Promise<void>;
  abstract now(): Date;
  abstract newId(): string;
}
