import { randomBytes } from 'node:crypto';
import { BarePosts } from './bare-posts';
import { median, type Row, type Section } from './rows';
import type { Site } from './site';
import { newBytes, turnTexts } from './texts';

/** Turns of one conversation around which is measured, and in how many conversations. */
export interface Point {
  readonly turn: number;
  /** Turns before and after that count too. */
  readonly around: number;
  readonly conversations: number;
}

export interface Sizes {
  /** In ascending order, each in at most as many conversations as the one before. */
  readonly points: readonly Point[];
  /** UTF-8 bytes of each tool result. */
  readonly resultBytes: number;
  /** Turns before anything is measured, so that the server's code is compiled. */
  readonly warmUp: number;
  /** Turns that follow the last point, so that storage is seen over a whole period of manifests. */
  readonly more: number;
}

/** One conversation as it was talked. */
export interface Talk {
  readonly conversationId: string;
  /** New bytes of each turn, from 1. */
  readonly newBytes: readonly number[];
}

/** One measured turn. Milliseconds. */
interface Sample {
  readonly turn: number;
  readonly overhead: number;
  readonly fourCommits: number;
  readonly barePosts: number;
  readonly sentBytes: number;
}

const ASSISTANT = {
  name: 'Bench',
  systemPrompt:
    'You answer questions about invoices. Look them up with the tool before you answer, and name the figures that you rely on.',
  model: { provider: 'openai', name: 'simulated', inputCap: 100_000_000 },
  tools: [{ type: 'http', name: 'lookup' }],
  // Every message stays: so a turn's cost is seen as its conversation grows.
  context: { window: null },
};

/** Talks, and measures the overhead of turns on the way. */
export class Turns {
  private readonly samples: Sample[] = [];
  private readonly bare: BarePosts;
  private seed = 0;

  constructor(
    private readonly site: Site,
    private readonly sizes: Sizes,
  ) {
    this.bare = new BarePosts(site);
  }

  async talk(progress: (text: string) => void): Promise<readonly Talk[]> {
    await this.site.pool.query(
      'create table public.bench_commits (id bigint generated always as identity, body bytea not null)',
    );
    const { assistantId } = await this.site.client.assistant(ASSISTANT as never);
    const begin = async (): Promise<string> => (await this.site.client.start({ assistantId })).conversationId;
    await this.turns(await begin(), this.sizes.warmUp, () => false);
    const talks: Talk[] = [];
    const most = Math.max(...this.sizes.points.map(({ conversations }) => conversations));
    for (let n = 0; n < most; n++) {
      const points = this.sizes.points.filter(({ conversations }) => n < conversations);
      const last = points.at(-1);
      if (!last) break;
      const length = last.turn + (last.turn === 1 ? 0 : Math.max(last.around, this.sizes.more));
      const conversationId = await begin();
      const lengths = await this.turns(conversationId, length, (turn) =>
        points.some((point) => Math.abs(point.turn - turn) <= point.around),
      );
      talks.push({ conversationId, newBytes: lengths });
      progress(`conversation ${n + 1} of ${most}: ${length} turns`);
    }
    await this.site.pool.query('drop table public.bench_commits');
    return talks;
  }

  overhead(): Section {
    const at = this.sizes.points.map((point) => ({
      point,
      samples: this.samples.filter(({ turn }) => Math.abs(turn - point.turn) <= point.around),
    }));
    const of = (samples: readonly Sample[], field: (sample: Sample) => number): number => median(samples.map(field));
    const rows = at.map(({ point, samples }): Row => {
      const [overhead, commits, bare] = [
        of(samples, (s) => s.overhead),
        of(samples, (s) => s.fourCommits),
        of(samples, (s) => s.barePosts),
      ];
      const sent = of(samples, (s) => s.sentBytes) / 1e6;
      return {
        what: `turn ${point.turn}: overhead to four bare commits`,
        ratio: overhead / commits,
        aim: { most: 4 },
        detail: `${ms(overhead)} to ${ms(commits)}; sends ${sent.toFixed(2)} MB, which bare takes ${ms(bare)} (${samples.length} turns)`,
      };
    });
    const beyond = (samples: readonly Sample[]): number => of(samples, (s) => s.overhead - s.barePosts);
    const commits = median(this.samples.map((s) => s.fourCommits));
    const tenth = at.find(({ point }) => point.turn === 10) ?? at[0];
    for (const { point, samples } of at) {
      if (!tenth || point.turn <= tenth.point.turn) continue;
      rows.push({
        what: `turn ${point.turn} to turn ${tenth.point.turn}, beyond what is sent`,
        ratio: beyond(samples) / beyond(tenth.samples),
        ...(point === this.sizes.points.at(-1) ? { aim: { most: 1.2 } } : {}),
        detail: `${ms(beyond(samples))} to ${ms(beyond(tenth.samples))}; to four bare commits ${(beyond(samples) / commits).toFixed(2)}`,
      });
    }
    return {
      title: 'Overhead of a turn (two rounds, one tool call), over HTTP, by the client’s clock',
      how:
        'Without the own time of model and tool (last byte of a request to last byte of its answer, in their processes). “Bare”, taken off for ' +
        'the growth: the same two bodies put together from pieces, hashed twice (to be recorded, and as they leave) and posted by the same SDK to a server that says one word.',
      rows,
    };
  }

  private async turns(conversationId: string, count: number, isMeasured: (turn: number) => boolean): Promise<number[]> {
    const lengths: number[] = [];
    for (let turn = 1; turn <= count; turn++) {
      const texts = turnTexts(this.seed++, this.sizes.resultBytes);
      this.site.tool.answer = () => texts.result;
      lengths.push(newBytes(texts));
      const measured = isMeasured(turn);
      const fourCommits = measured ? await this.fourCommits() : 0;
      await this.takeSpentMs();
      const began = performance.now();
      const { status, answer, nodes, error } = await this.site.client.ask(conversationId, texts.question);
      const whole = performance.now() - began;
      const overhead = whole - (await this.takeSpentMs());
      if (status !== 'completed' || answer?.trim() !== texts.answer.trim() || nodes.length !== 2)
        throw new Error(`Turn ${turn} of the bench went wrong: ${status} ${JSON.stringify(error)} ${answer}`);
      if (measured) this.samples.push({ turn, overhead, fourCommits, ...(await this.bare.likeLastTurn(turn)) });
    }
    return lengths;
  }

  private async takeSpentMs(): Promise<number> {
    return this.site.tool.takeSpentMs() + (await this.site.model.takeSpentMs());
  }

  private async fourCommits(): Promise<number> {
    const client = await this.site.pool.connect();
    const text = 'insert into public.bench_commits (body) values ($1::bytea)';
    const insert = () => client.query({ name: 'bench-commit', text, values: [randomBytes(600)] });
    try {
      await insert();
      const began = performance.now();
      for (let n = 0; n < 4; n++) await insert();
      return performance.now() - began;
    } finally {
      client.release();
    }
  }
}

const ms = (milliseconds: number): string => `${milliseconds.toFixed(1)} ms`;
