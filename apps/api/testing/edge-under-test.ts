import { Global, Module, type DynamicModule, type Type } from '@nestjs/common';
import { CommandHandler, CqrsModule, QueryHandler } from '@nestjs/cqrs';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  AddPlaybookVersion,
  ApiKeys,
  AskQuestion,
  AwaitTurn,
  CancelTurn,
  ClearConversation,
  CompactConversation,
  CreateAssistantVersion,
  DecideApproval,
  DeleteConversation,
  DropGeneration,
  DiffNodes,
  DiffPlaybookVersions,
  EditQuestion,
  ExportConversation,
  FollowRunningText,
  FollowTurn,
  GetConversation,
  GetLineage,
  DiagnoseNode,
  GetContext,
  GetCoverage,
  GetNode,
  GetPlaybook,
  GetState,
  GetStateHistory,
  GetTranscript,
  GetTree,
  GetTurn,
  GetUsage,
  ImportConversation,
  ListApprovals,
  ListConversations,
  ListEvents,
  ListProjections,
  Metrics,
  QueryProjection,
  RebuildProjection,
  ListPlaybookVersions,
  MakePlaybook,
  OpenEditConversation,
  refused,
  RegenerateAnswer,
  ReissueNode,
  ReplayNode,
  RetryParked,
  RunBacktest,
  StartConversation,
  StateField,
  SwitchBranch,
  TagItem,
  type Answer,
  type Caller,
} from '@palimpsest/application';
import { pino } from 'pino';
import { Readiness, type ReadinessReport } from '../src/health/readiness';
import { configureEdge } from '../src/http/configure-edge';
import type { EdgeConfig } from '../src/http/edge-config';
import { createFastifyAdapter } from '../src/http/fastify-adapter';
import { EdgeModule } from '../src/edge.module';

type Request = object;

/** The other side of the bus: each test says what it answers. Without a word it answers 404. */
export class OtherSide {
  readonly received: Request[] = [];
  private readonly replies = new Map<unknown, (request: never) => unknown>();

  on<T extends Request>(type: new (...args: never[]) => T, reply: (request: T) => unknown): this {
    this.replies.set(type, reply);
    return this;
  }

  last<T extends Request>(type: new (...args: never[]) => T): T {
    const found = this.received.filter((request): request is T => request instanceof type).at(-1);
    if (!found) throw new Error(`No ${type.name} arrived.`);
    return found;
  }

  async reply(request: Request): Promise<unknown> {
    this.received.push(request);
    const reply = this.replies.get(request.constructor) as ((request: Request) => unknown) | undefined;
    return reply ? reply(request) : (refused('not_found', 'Nothing here.') satisfies Answer<never>);
  }
}

export const keys = { tenant: 'key-of-a-tenant', operator: 'key-of-an-operator', both: 'key-of-both' };

const callers: Readonly<Record<string, Caller>> = {
  [keys.tenant]: { tenantId: '0190a000-0000-7000-8000-000000000001', actor: 'actor-1', roles: ['tenant'] },
  [keys.operator]: { tenantId: '0190a000-0000-7000-8000-000000000001', actor: 'actor-2', roles: ['operator'] },
  [keys.both]: { tenantId: '0190a000-0000-7000-8000-000000000001', actor: 'actor-3', roles: ['tenant', 'operator'] },
};

export interface EdgeUnderTest {
  readonly url: string;
  readonly app: NestFastifyApplication;
  readonly bus: OtherSide;
  readonly logLines: string[];
  readiness: ReadinessReport;
  close(): Promise<void>;
}

/** The real edge on a real socket, with the other side of the bus played by the test. */
export async function startEdge(config: Partial<EdgeConfig> = {}): Promise<EdgeUnderTest> {
  const bus = new OtherSide();
  const logLines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logLines.push(line) });
  const edge: EdgeConfig = { maxBodyBytes: 64 * 1024, log, ...config };
  const state = { readiness: { ready: true, checks: { log: { ok: true } } } as ReadinessReport };
  const app = await NestFactory.create<NestFastifyApplication>(
    root(edge, bus, () => state.readiness),
    createFastifyAdapter(edge),
    { logger: ['error', 'warn'] },
  );
  configureEdge(app, edge);
  await app.listen(0, '127.0.0.1');
  return Object.assign(state, { url: await app.getUrl(), app, bus, logLines, close: () => app.close() });
}

function root(edge: EdgeConfig, bus: OtherSide, readiness: () => ReadinessReport): DynamicModule {
  @Global()
  @Module({})
  class Root {}
  const apiKeys: ApiKeys = { find: async (secret) => callers[secret] };
  const ready: Readiness = { check: async () => readiness() };
  const provided = [
    { provide: ApiKeys, useValue: apiKeys },
    { provide: Readiness, useValue: ready },
    { provide: Metrics, useValue: new Metrics() },
  ];
  return {
    module: Root,
    imports: [CqrsModule.forRoot(), EdgeModule.with(edge)],
    providers: [...provided, { provide: OtherSide, useValue: bus }, ...handlers(bus)],
    exports: provided.map(({ provide }) => provide),
  };
}

const commands = [
  AddPlaybookVersion,
  AskQuestion,
  CancelTurn,
  ClearConversation,
  CompactConversation,
  CreateAssistantVersion,
  DecideApproval,
  DeleteConversation,
  DropGeneration,
  EditQuestion,
  ImportConversation,
  RebuildProjection,
  RegenerateAnswer,
  ReissueNode,
  RetryParked,
  StartConversation,
  StateField,
  MakePlaybook,
  OpenEditConversation,
  SwitchBranch,
  TagItem,
];
const queries = [
  AwaitTurn,
  ExportConversation,
  FollowRunningText,
  FollowTurn,
  GetConversation,
  GetLineage,
  DiagnoseNode,
  GetContext,
  GetCoverage,
  GetNode,
  GetState,
  GetStateHistory,
  GetTranscript,
  GetTree,
  GetTurn,
  GetUsage,
  ListApprovals,
  DiffNodes,
  DiffPlaybookVersions,
  GetPlaybook,
  ListConversations,
  ListEvents,
  ListProjections,
  QueryProjection,
  ListPlaybookVersions,
  ReplayNode,
  RunBacktest,
];

function handlers(bus: OtherSide): Type[] {
  const forCommands = commands.map((command) => {
    @CommandHandler(command)
    class Handler {
      execute = (request: Request): Promise<unknown> => bus.reply(request);
    }
    return Handler;
  });
  const forQueries = queries.map((query) => {
    @QueryHandler(query)
    class Handler {
      execute = (request: Request): Promise<unknown> => bus.reply(request);
    }
    return Handler;
  });
  return [...forCommands, ...forQueries] as Type[];
}

export const usage = { inputTokens: 10, cachedInputTokens: 2, outputTokens: 5 };
export const ids = {
  assistant: '0190b000-0000-7000-8000-0000000000aa',
  conversation: '0190b000-0000-7000-8000-0000000000bb',
  turn: '0190b000-0000-7000-8000-0000000000cc',
  node: '0190b000-0000-7000-8000-0000000000cc-0',
};

export const completedTurn = {
  turnId: ids.turn,
  status: 'completed' as const,
  answer: 'An answer.',
  head: ids.node,
  nodes: [ids.node],
  usage,
  revision: 7n,
  position: 90_071_992_547_409_931n,
};
