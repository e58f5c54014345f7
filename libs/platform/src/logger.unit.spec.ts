import { createLogger, describeError } from './logger';

function logged(work: (log: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  work(createLogger('info', { write: (line) => void lines.push(line) }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

it('writes one JSON line a fact, with the level as a word and the time in UTC', () => {
  const [line] = logged((log) => log.info({ turnId: 't1' }, 'a turn ended'));
  expect(line).toMatchObject({ level: 'info', turnId: 't1', msg: 'a turn ended' });
  expect(line?.['time']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

it('keeps secrets out of its lines', () => {
  const req = { url: '/v1/x', headers: { authorization: 'Bearer hunter2', cookie: 'hunter2' } };
  const [line] = logged((log) => log.info({ req, openai: { apiKey: 'hunter2' }, password: 'hunter2' }, 'x'));
  expect(JSON.stringify(line)).not.toContain('hunter2');
  expect(line).toMatchObject({ req: { url: '/v1/x' } });
});

it('logs no text that an error quotes: not what a parser could not parse, nor rows, nor requests', () => {
  const parse = catching(() => JSON.parse('canary is not JSON'));
  const row = Object.assign(new Error('invalid input: "canary"'), {
    severity: 'ERROR',
    routine: 'x',
    detail: 'canary',
    code: '22P02',
  });
  const call = Object.assign(new Error('400 canary'), { status: 400, headers: {}, error: { message: 'canary' } });
  const outer = new Error('the turn failed', {
    cause: Object.assign(new Error('cut'), { request: 'canary', cause: parse }),
  });
  const lines = logged((log) => [parse, row, call, outer].forEach((err) => log.error({ err }, 'failed')));
  expect(JSON.stringify(lines)).not.toContain('canary');
  expect(lines[1]).toMatchObject({ err: { code: '22P02' } });
  expect(lines[3]).toMatchObject({ err: { message: 'the turn failed', cause: { message: 'cut' } } });
});

it('keeps where an error came from', () => {
  expect(describeError(new Error('x')).stack).toMatch(/^\s+at .*logger\.unit\.spec/);
});

function catching(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
