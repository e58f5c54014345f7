import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, Reply } from '../support/client';
import { eventsOf } from '../support/installation';
import { api, deployment, process } from '../support/one-process';

/** Said where a person, a model or a tool says something. Words of their own, so that each place is told from the others. */
const canaries = {
  question: 'canary-question-8271-Zaunkönig',
  arguments: 'canary-arguments-3350-Pirol',
  result: 'canary-result-9902-Wiedehopf',
  answer: 'canary-answer-4417-Eisvogel',
  prompt: 'canary-prompt-6038-Rotkehlchen',
  partial: 'canary-partial-1185-Goldammer',
  edited: 'canary-edited-7764-Kleiber',
};

/** A conversation in which every canary is said: over HTTP alone, so that it can be had with any process. */
async function sayThemAll(client: Client): Promise<string> {
  deployment.tools.behave(() => ({ text: canaries.result }));
  const conversationId = await client.conversation(['lookup', 'note'], { systemPrompt: canaries.prompt });
  const question = `${canaries.question} [[sim: call lookup {"x":"${canaries.arguments}"}]] [[sim: echo]]`;
  const turn = await client.ask(conversationId, question);
  expect(turn.answer).toBe(canaries.result);
  expect(await client.ask(conversationId, `[[sim: say ${canaries.answer}]]`)).toMatchObject({
    answer: canaries.answer,
  });
  await client.ask(conversationId, `[[sim: cut after=8 times=1]] [[sim: say ${`${canaries.partial} `.repeat(20)}]]`);
  await client.ask(conversationId, `${canaries.question} [[sim: fail invalid_request]]`);
  await client.edit(
    conversationId,
    turn.turnId,
    `${canaries.edited} [[sim: call nowhere {"${canaries.arguments}":1}]]`,
  );
  await client.send('POST', `/v1/conversations/${conversationId}/turns`, { body: { [canaries.question]: 1 } });
  await client.send('POST', `/v1/conversations/${conversationId}/turns`, { raw: `{"text": ${canaries.question}` });
  await client.send('GET', `/v1/nodes/${encodeURIComponent(canaries.question)}`);
  return conversationId;
}

/** A text as it could stand somewhere: in UTF-8, as hex, and as base64 at each of its three alignments. */
function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].map((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return shifted.slice(shift === 0 ? 0 : shift + 1, -2);
  });
  return [text, text.split('-').slice(0, 3).join('-'), bytes.toString('hex'), ...base64];
}

const needles = Object.values(canaries).flatMap(formsOf);
const foundIn = (hay: string | Buffer) => needles.filter((needle) => hay.includes(needle));

it('G09: the search knows a text again, whatever stands around it', () => {
  const around = (shift: number) => Buffer.from(`${'-'.repeat(shift)}${canaries.answer}--`);
  for (const encoding of ['utf8', 'hex', 'base64', 'base64url'] as const)
    for (const shift of [0, 1, 2]) expect(foundIn(around(shift).toString(encoding))).not.toEqual([]);
});

describe('G09: what a person wrote, a model said or a tool returned', () => {
  it('is in no column of no table, in whatever form', async () => {
    const conversationId = await sayThemAll(api);
    const { rows: tables } = await deployment.pool.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    expect(tables.length).toBeGreaterThan(8);
    let rows = 0;
    const seen: string[] = [];
    for (const { name } of tables) {
      const found = await deployment.pool.query<{ row: string }>(`select t::text as row from ${name} as t`);
      rows += found.rows.length;
      for (const { row } of found.rows) {
        expect([name, foundIn(row)]).toEqual([name, []]);
        seen.push(row);
      }
      // Bytes that hold text would be told by their hex alone; here they are told as text too.
      for (const { row } of found.rows)
        for (const [hex] of row.matchAll(/\\\\x[0-9a-f]+/g))
          expect([name, foundIn(Buffer.from(hex.slice(3), 'hex'))]).toEqual([name, []]);
    }
    expect(rows).toBeGreaterThan(20);
    // The search does find what is there.
    expect(seen.some((row) => row.includes(conversationId))).toBe(true);
  });

  it('is in no line of the log, at its most talkative', async () => {
    const talkative = await deployment.start({ PALIMPSEST_LOG_LEVEL: 'trace' });
    await sayThemAll(api.at(talkative));
    expect(talkative.log.length).toBeGreaterThan(10);
    for (const line of [...talkative.log, ...process.log]) expect(foundIn(line)).toEqual([]);
  });

  it('is in no file of the data directory, the real files of a Postgres of its own', async () => {
    const dataDir = deployment.file('own-data');
    const own = await deployment.spawn({
      DATABASE_URL: '',
      PALIMPSEST_DATA_DIR: dataDir,
      PALIMPSEST_LOG_LEVEL: 'trace',
    });
    const there = api.withKey(readFileSync(join(dataDir, 'api-key'), 'utf8').trim()).at(own);
    const conversationId = await sayThemAll(there);
    const mentioned = new Set<string>();
    const search = () => {
      for (const path of filesUnder(dataDir)) {
        const content = contentOf(path);
        if (!content) continue;
        expect([path, foundIn(content)]).toEqual([path, []]);
        if (content.includes(conversationId)) mentioned.add(path);
      }
    };
    search();
    // What was in memory alone is written on the way out.
    await own.close();
    search();
    expect(mentioned.size).toBeGreaterThan(0);
    for (const line of own.log) expect(foundIn(line)).toEqual([]);
  });
});

/** Undefined where Postgres has taken the file away since it was listed. */
function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: unknown;
}

it('G10: every route that takes an id answers 404 for another tenant’s, and nothing of theirs changes or is listed', async () => {
  const conversationId = await api.conversation(['pay'], { state: 'default' });
  const first = await api.ask(conversationId, '[[sim: say mine]]');
  const transform = await api.makePlaybook(conversationId);
  if (transform.status !== 'created') throw new Error(transform.error.detail);
  const { playbookId, playbook } = transform;
  const document = await api.get(`/v1/conversations/${conversationId}/export?minRevision=${transform.revision}`);
  const waiting = await api.ask(conversationId, '[[sim: call pay {}]]');
  const { body } = await api.send('GET', '/openapi.json');
  const { assistantId } = await api.get<{ assistantId: string }>(`/v1/conversations/${conversationId}`);
  const before = (await eventsOf(process, conversationId)).length;
  const stranger = await deployment.client(process);

  const toolCallId = `${waiting.nodes[0]}-0`;
  const approval = (await eventsOf(process, conversationId)).findLast(({ type }) => type === 'ToolApprovalRequested');
  const { argumentsDigest } = approval?.data as { argumentsDigest: string };
  const bodies: Readonly<Record<string, object>> = {
    'POST /v1/assistants': { assistantId, name: 'x', systemPrompt: 'x' },
    'POST /v1/conversations': { assistantId },
    'PUT /v1/conversations/{id}/head': { nodeId: first.nodes[0] },
    'POST /v1/conversations/{id}/turns': { text: 'x' },
    'POST /v1/conversations/{id}/turns/{turnId}/edit': { text: 'x' },
    'POST /v1/conversations/{id}/approvals/{toolCallId}': { decision: 'approve', argumentsDigest },
    'POST /v1/conversations/{id}/compactions': { reason: 'topic' },
    'POST /v1/nodes/{id}/tags': { item: 'sent/0', tag: 'fact' },
    'POST /v1/nodes/{id}/reissue': {},
    'POST /v1/conversations/{id}/state': { field: 'goal', value: 'x' },
    'POST /v1/conversations/{id}/playbooks': { maxAttempts: 1 },
    'POST /v1/playbooks/{id}/versions': { playbook },
    'POST /v1/imports': { assistantId, document },
  };
  const queries: Readonly<Record<string, string>> = {
    'GET /v1/conversations/{id}/state/history': '?field=goal',
    'GET /v1/playbooks/{id}/diff': '?from=1&to=1',
    'GET /v1/nodes/{id}/diff': `?with=${first.nodes[0]}`,
    'GET /v1/events': `?conversationId=${conversationId}`,
  };
  const ownerOf = (path: string): string | undefined =>
    path.startsWith('/v1/nodes') ? first.nodes[0] : path.startsWith('/v1/playbooks') ? playbookId : conversationId;
  const answers: [route: string, reply: Reply<Record<string, unknown>>][] = [];
  for (const [path, operations] of Object.entries(body['paths'] as Record<string, Record<string, Operation>>))
    for (const [verb, operation] of Object.entries(operations)) {
      const route = `${verb.toUpperCase()} ${path}`;
      const takesAnId = path.includes('{') || bodies[route] !== undefined || queries[route] !== undefined;
      // Projections are the operator's, and each tenant's query of one is of its own rows.
      if (!path.startsWith('/v1/') || path.startsWith('/v1/projections') || !takesAnId) continue;
      if (operation.requestBody !== undefined && bodies[route] === undefined)
        throw new Error(`Say here what body ${route} takes.`);
      const ids: Record<string, string | undefined> = {
        id: ownerOf(path),
        turnId: first.turnId,
        toolCallId,
      };
      const concrete = path.replace(/\{(\w+)\}/g, (_, name: string) => {
        const id = ids[name];
        if (id === undefined) throw new Error(`Say here what ${name} of ${route} is.`);
        return id;
      });
      const asked = concrete + (queries[route] ?? '');
      answers.push([route, await stranger.send(verb.toUpperCase(), asked, { body: bodies[route] })]);
    }

  expect(answers.length).toBeGreaterThanOrEqual(15);
  for (const [route, { status, body: problem, text }] of answers) {
    expect([route, status, problem['code']]).toEqual([route, 404, 'not_found']);
    expect(text).not.toContain(conversationId);
  }
  expect(await eventsOf(process, conversationId)).toHaveLength(before);
  expect((await stranger.conversations()).items).toEqual([]);
  expect((await stranger.get<{ items: unknown[] }>('/v1/approvals')).items).toEqual([]);
  await api.cancel(conversationId, waiting.turnId);
});
