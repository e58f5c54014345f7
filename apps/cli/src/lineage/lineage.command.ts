import type { HeldByView, LineageView, RestsOnView } from '@palimpsest/application';
import { Command, Option } from 'nest-commander';
import type { Json } from '../../../api/src/http/json';
import { counted } from '../counted';
import { interruptible } from '../interruptible';
import { type Remote, type RemoteOptions, RemoteVerb } from '../remote';
import { UsageError } from '../verb';

type Lineage = Json<LineageView>;
type List = 'heldBy' | 'restsOn';

interface LineageOptions extends RemoteOptions {
  readonly node?: string;
  readonly toolCall?: string;
  readonly assertion?: string;
  readonly playbook?: string;
  readonly digest?: string;
}

@Command({
  name: 'lineage',
  description:
    'Which answers rested on something, on any branch and in conversations that grow from there; of a node also what it rested on itself',
})
export class LineageCommand extends RemoteVerb {
  protected override readonly examples = [
    'lineage --tool-call 01a229ff-1fd7-738f-80cd-6a29f0c093be-1-0',
    'lineage --node 01a229ff-1fd7-738f-80cd-6a29f0c093be-2 --json',
    'lineage --digest $(sha256sum < price-list.csv | cut -c1-64)',
    'lineage --assertion 01a22a00-9c11-7410-a7c1-3f0c5d1b0e52@14',
  ];

  override async run(
    _: string[],
    { node, toolCall, assertion, playbook, digest, ...options }: LineageOptions,
  ): Promise<void> {
    const named = Object.entries({ node, toolCall, assertion, playbook, digest }).filter(([, id]) => id !== undefined);
    const [subject] = named;
    if (!subject || named.length > 1)
      throw new UsageError('Name one thing to ask about: --node, --tool-call, --assertion, --playbook or --digest.');
    const query = new URLSearchParams([subject as [string, string], ['limit', '200']]);
    const lineage = await interruptible((signal) => whole(this.remote(options, signal), query));
    process.stdout.write(options.json ? `${JSON.stringify(lineage)}\n` : described(lineage));
  }

  @Option({ flags: '--node <id>', description: 'What this model call sent and received, or the summary that it made' })
  parseNode(id: string): string {
    return id;
  }

  @Option({ flags: '--tool-call <id>', description: 'The result of this tool call' })
  parseToolCall(id: string): string {
    return id;
  }

  @Option({ flags: '--assertion <id>', description: 'A value of the state: CONVERSATION@REVISION, as --node lists it' })
  parseAssertion(id: string): string {
    return id;
  }

  @Option({ flags: '--playbook <id>', description: 'The draft that this playbook was made from' })
  parsePlaybook(id: string): string {
    return id;
  }

  @Option({
    flags: '--digest <sha256>',
    description: 'A text by its SHA-256, in every conversation; looks through all',
  })
  parseDigest(sha256: string): string {
    return sha256;
  }
}

/** Both lists to their ends. */
async function whole(remote: Remote, query: URLSearchParams): Promise<Lineage> {
  const page = (cursor?: string): Promise<Lineage> =>
    remote.json(
      'GET',
      `/v1/lineage?${query.toString()}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
  const first = await page();
  const rest = async <T>(list: List): Promise<{ readonly items: readonly T[]; readonly next: null }> => {
    const items: T[] = [];
    for (let part = first[list]; part;) {
      items.push(...(part.items as readonly T[]));
      part = part.next === null ? undefined : (await page(part.next))[list];
    }
    return { items, next: null };
  };
  const lists = {
    ...(first.heldBy && { heldBy: await rest<Json<HeldByView>>('heldBy') }),
    ...(first.restsOn && { restsOn: await rest<Json<RestsOnView>>('restsOn') }),
  };
  return { ...first, ...lists };
}

function described({ heldBy, restsOn }: Lineage): string {
  const lines = [
    ...(heldBy
      ? [
          `${heldBy.items.length === 0 ? 'No answers' : counted(heldBy.items.length, 'answer')} held it.`,
          ...heldBy.items.map(answerLine),
        ]
      : []),
    ...(restsOn ? ['It rested itself on:', ...restsOn.items.map(restLine)] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function answerLine({ nodeId, conversationId, kind, final, current, via, summaries = [] }: Json<HeldByView>): string {
  const what = kind === 'turn' ? (final ? 'answer' : 'round') : kind;
  const branch = current ? 'current branch' : 'another branch';
  return `  ${what} ${nodeId} of conversation ${conversationId} (${branch}): ${howOf(via, summaries)}`;
}

function restLine({ via, summaries = [], ...rest }: Json<RestsOnView>): string {
  const { type, tool, field, toolCallId, assertion, nodeId, assistantId, version } = rest;
  const id = toolCallId ?? assertion ?? (assistantId === undefined ? nodeId : `${assistantId} version ${version}`);
  return `  ${[type, tool ?? field, id].filter((word) => word !== undefined && word !== null).join(' ')}: ${howOf(via, summaries)}`;
}

const howOf = (via: readonly string[], summaries: readonly string[]): string =>
  `${via.join(', ')}${summaries.length > 0 ? ` ${summaries.join(', ')}` : ''}`;
