import { stateLimits } from './limits';
import type { FieldDefinition } from './schema';
import type { Asserted, Retracted, Statement, StateValue } from './statement';
import type { Ending, FieldState, Held, Period, Source } from './state';
import { fold } from './text';
import { sameValue } from './value';

/** Told of what a statement does to the periods of a field, in order: one begins (`before` is null), is affirmed, or ends. */
export type Record = (before: Period | null, after: Period) => void;

/** What a statement at a node does to its field. The same object where it does nothing. */
export function apply(
  state: FieldState,
  statement: Statement,
  nodeId: string,
  field: FieldDefinition,
  record: Record,
): FieldState {
  const source: Source = { nodeId, ...(statement.quote === undefined ? {} : { quote: statement.quote }) };
  const change = new Change(state, field, source, record);
  if (statement.type === 'StateRetracted') return change.retract(statement);
  return confirms(field, statement, change.find(statement)) ? change.confirm(statement) : change.propose(statement);
}

/** Whether a statement counts at once, or waits for a word of the user. A model's never counts against what a person said. */
function confirms({ confirm }: FieldDefinition, { by, quote }: Statement, held: Held | undefined): boolean {
  switch (by) {
    case 'client':
      return true;
    case 'user':
    case 'rule':
      return confirm !== 'client' && quote !== undefined && fold(quote) !== '';
    case 'model':
      return confirm === 'inferred' && (held === undefined || held.by === 'model');
  }
}

type Claimed = { readonly key?: string } & Partial<StateValue>;

class Change {
  constructor(
    private readonly state: FieldState,
    private readonly field: FieldDefinition,
    private readonly source: Source,
    private readonly record: Record,
  ) {}

  /** The valid value whose place the claim would take: in a set, the one under its key, or else the same value. */
  find(claim: Claimed): Held | undefined {
    const { values } = this.state;
    if (this.field.cardinality === 'one') return values.at(-1);
    return values.find((held) => sameKey(held, claim)) ?? values.find((held) => this.rivals(held, claim));
  }

  confirm(claim: Asserted): FieldState {
    const held = this.find(claim);
    if (held && this.same(held, claim)) return this.affirm(held, claim);
    const replaced = this.state.values.filter((old) => this.rivals(old, claim));
    const ended = replaced.map((old) => this.end(old, 'superseded')).reverse();
    const superseded = [...ended, ...(held?.superseded ?? [])].slice(0, stateLimits.keptPeriods);
    const settled = this.settle(claim);
    const begun: Held = { ...this.period(claim), superseded };
    this.record(null, begun);
    return { ...settled, values: [...this.state.values.filter((old) => !replaced.includes(old)), begun] };
  }

  /** A value said again keeps its period; its latest wording stands, and a currency or a key that is new. */
  private affirm(held: Held, claim: Asserted): FieldState {
    const currency = claim.currency ?? held.currency;
    const key = claim.key ?? held.key;
    const after: Held = {
      ...held,
      value: claim.value,
      ...(currency === undefined ? {} : { currency }),
      ...(key === undefined ? {} : { key }),
      by: held.by === 'model' ? claim.by : held.by,
      affirmed: this.source,
    };
    this.record(held, after);
    return { ...this.settle(claim), values: this.state.values.map((old) => (old === held ? after : old)) };
  }

  /** A proposal stands beside what is confirmed and never in its place. One that says what holds anyway says nothing. */
  propose(claim: Asserted): FieldState {
    const held = this.find(claim);
    if (held && this.same(held, claim)) return this.state;
    const rivals = this.state.proposed.filter((proposal) => this.rivals(proposal, claim));
    if (rivals.some((proposal) => this.same(proposal, claim) || outranks(proposal, claim))) return this.state;
    rivals.forEach((proposal) => this.end(proposal, 'superseded'));
    const others = this.state.proposed.filter((proposal) => !rivals.includes(proposal));
    const begun = this.period(claim);
    this.record(null, begun);
    const proposed = [...others, begun];
    proposed.slice(0, -stateLimits.keptProposals).forEach((proposal) => this.end(proposal, 'superseded'));
    return { ...this.state, proposed: proposed.slice(-stateLimits.keptProposals) };
  }

  retract(claim: Retracted): FieldState {
    const meant = this.meant(claim);
    const gone = this.state.values.filter((held) => meant(held) && confirms(this.field, claim, held));
    const withdrawn = this.state.proposed.filter((proposal) => meant(proposal) && !outranks(proposal, claim));
    if (gone.length + withdrawn.length === 0) return this.state;
    withdrawn.forEach((proposal) => this.end(proposal, 'retracted'));
    const retracted = [...this.state.retracted, ...gone.map((held) => this.end(held, 'retracted'))];
    return {
      ...this.state,
      values: this.state.values.filter((held) => !gone.includes(held)),
      proposed: this.state.proposed.filter((proposal) => !withdrawn.includes(proposal)),
      retracted: retracted.slice(-stateLimits.keptPeriods),
    };
  }

  private meant(claim: Claimed): (period: Period) => boolean {
    if (claim.key === undefined && claim.value === undefined) return () => true;
    if (this.field.cardinality === 'one') return (period) => claim.value === undefined || this.same(period, claim);
    return (period) => sameKey(period, claim) || (claim.key === undefined && this.same(period, claim));
  }

  /** A confirmed value leaves nothing in its place waiting, and nothing retracted. */
  private settle(claim: Asserted): FieldState {
    const settled = this.state.proposed.filter((proposal) => this.rivals(proposal, claim));
    settled.forEach((proposal) => this.end(proposal, this.same(proposal, claim) ? 'confirmed' : 'superseded'));
    return {
      ...this.state,
      proposed: this.state.proposed.filter((proposal) => !settled.includes(proposal)),
      retracted: this.state.retracted.filter((period) => !this.rivals(period, claim)),
    };
  }

  /** Whether the two can't both hold: any two of a field for one value, and in a set those of one key. Without a key the value is the key. */
  private rivals(period: Period, claim: Claimed): boolean {
    if (this.field.cardinality === 'one' || sameKey(period, claim)) return true;
    return (period.key === undefined || claim.key === undefined) && this.same(period, claim);
  }

  private same(period: Period, { value, currency }: Claimed): boolean {
    if (value === undefined) return false;
    return sameValue(this.field, period, currency === undefined ? { value } : { value, currency });
  }

  private period({ value, currency, key, by }: Asserted): Period {
    return {
      value,
      ...(currency === undefined ? {} : { currency }),
      ...(key === undefined || this.field.cardinality === 'one' ? {} : { key }),
      by,
      from: this.source,
    };
  }

  private end(before: Period, how: Ending['how']): Period {
    const { superseded: _, ...period } = before as Held;
    const after = { ...period, to: { ...this.source, how } };
    this.record(before, after);
    return after;
  }
}

/** What a person said and a model did not. */
const outranks = (proposal: Period, { by }: Statement): boolean => proposal.by !== 'model' && by === 'model';

const sameKey = (period: Period, { key }: Claimed): boolean =>
  key !== undefined && period.key !== undefined && fold(period.key) === fold(key);
