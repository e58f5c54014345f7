import { Command, Option } from 'nest-commander';
import { interruptible, Interrupted } from '../interruptible';
import { Verb } from '../verb';
import { ChangedBudgetChapter } from './changed-budget';
import { Client } from './client';
import { Narrator } from './narrator';
import { withOwnServer } from './own-server';
import { FailedRound } from './failed-round';
import { PlaybookChapter } from './playbook';
import { type Findings, nothingYet, Stage } from './stage';
import { Story } from './story';

@Command({
  name: 'demo',
  description:
    'A minute of conversations: ask, correct the question, compare the branches, replay every call, lose no result, change a value',
})
export class DemoCommand extends Verb {
  protected override readonly examples = ['demo', 'demo --json'];

  override async run(_: string[], { json = false }: { readonly json?: boolean }): Promise<void> {
    const narrator = json ? Narrator.silent : Narrator.on(process.stdout);
    const findings = nothingYet();
    const began = performance.now();
    const failure = await tell(narrator, findings).then(
      () => failureIn(findings),
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    if (failure instanceof Interrupted) throw failure;
    const ms = Math.round(performance.now() - began);
    if (json) process.stdout.write(`${asDocument(findings, failure, ms)}\n`);
    if (failure) throw failure;
    narrator.line();
    narrator.line(
      narrator.paint('green', `All ${findings.checks.length} checks hold. It took ${Math.round(ms / 1000)} s.`),
    );
    narrator.line('"npm start" serves the same for you.');
  }

  @Option({ flags: '--json', description: 'One JSON document instead of the story' })
  parseJson(): boolean {
    return true;
  }
}

function tell(narrator: Narrator, findings: Findings): Promise<void> {
  narrator.line(
    'Palimpsest, in one conversation. The company and the model are made up; server, Postgres and requests are real.',
  );
  return interruptible((interruption) =>
    withOwnServer(interruption, async (ready) => {
      const { url, secret } = await narrator.during('Starting a server with a Postgres of its own', ready);
      const stage = new Stage(new Client(url, secret, interruption), narrator, findings);
      await new Story(stage).tell();
      await new FailedRound(stage).tell();
      await new PlaybookChapter(stage).tell();
      await new ChangedBudgetChapter(stage).tell();
    }),
  );
}

export function failureIn({ checks }: Findings): Error | undefined {
  const failed = checks.filter(({ ok }) => !ok);
  if (failed.length === 0) return undefined;
  const sentences = failed.map(({ name, problems }) => `${name}: no. ${problems.join(' ')}`);
  return new Error(`${failed.length} of ${checks.length} checks did not hold.\n${sentences.join('\n')}`);
}

function asDocument(findings: Findings, failure: Error | undefined, ms: number): string {
  return JSON.stringify(
    { ok: failure === undefined, ms, ...findings, failure: failure?.message ?? null },
    undefined,
    2,
  );
}
