import { parseSql } from './parser';

describe('the SQL parser', () => {
  it('goes on after statements that overflow its stack', async () => {
    const deep = `select ${'1+'.repeat(12_000)}1`;
    for (let time = 0; time < 70; time++) {
      const answer = await parseSql(deep);
      expect(answer.ok ? 'parsed' : answer.message).toBe('the statement nests too deeply');
    }
    expect(await parseSql('select 1')).toMatchObject({ ok: true });
  }, 300_000);

  it('gives the message of a syntax error, and is unharmed by it', async () => {
    expect(await parseSql('selec 1')).toEqual({ ok: false, message: 'syntax error at or near "selec"' });
    expect(await parseSql("select 'open")).toMatchObject({
      ok: false,
      message: expect.stringContaining('unterminated'),
    });
    expect(await parseSql('')).toEqual({ ok: true, statements: [] });
  });

  it('takes several statements at once', async () => {
    const answers = await Promise.all(['select 1', 'nonsense', 'select 2; select 3'].map((sql) => parseSql(sql)));
    expect(answers.map((answer) => (answer.ok ? answer.statements.length : answer.message))).toEqual([
      1,
      'syntax error at or near "nonsense"',
      2,
    ]);
  });
});
