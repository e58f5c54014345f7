import { allowedFunctions, allowedOperators, allowedTypes, allowedValueFunctions } from './allowed';
import { grammar } from './grammar';
import type { SyntaxNode } from './parser';

/** What the check must know of the database. */
export interface Readable {
  /** Tables and views of schema `public` that the role may read. */
  readonly tables: ReadonlySet<string>;
  readonly columns: ReadonlySet<string>;
  /** Names of all functions of the database, whoever may call them. */
  readonly functions: ReadonlySet<string>;
}

/** Why the statements may not run, as a sentence for the model, or null where they may. */
export function refusalOf(statements: readonly SyntaxNode[], readable: Readable): string | null {
  if (statements.length !== 1) return `Send exactly one statement; these are ${statements.length.toString()}.`;
  const statement = statements[0] as SyntaxNode;
  if (!('SelectStmt' in statement)) return 'Only SELECT is allowed.';
  try {
    new Check(readable).statement(statement);
    return null;
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

class Refused extends Error {}

/** Walks every node of the tree, with a stack of its own: how deep a statement nests is up to its author. */
class Check {
  private readonly pending: [type: string, node: SyntaxNode][] = [];
  private readonly withNames = new Set<string>();
  private readonly tables: string[] = [];

  constructor(private readonly readable: Readable) {}

  statement(statement: SyntaxNode): void {
    this.push(statement);
    for (let next = this.pending.pop(); next; next = this.pending.pop()) this.node(...next);
    for (const table of this.tables) this.relation(table);
  }

  private push(value: unknown): void {
    if (Array.isArray(value)) {
      for (const item of value) this.push(item);
      return;
    }
    // `{}` is how a missing node of a list is written.
    for (const [type, node] of Object.entries(value as SyntaxNode)) this.pending.push([type, node as SyntaxNode]);
  }

  private node(type: string, node: SyntaxNode): void {
    const shape = grammar.get(type);
    if (!shape) throw new Refused(`${type} is not allowed here: only plain SELECT is.`);
    for (const [field, value] of Object.entries(node)) {
      const kind = shape.get(field);
      if (!kind) throw new Refused(`${field} of ${type} is not allowed here: only plain SELECT is.`);
      if (kind === 'nodes') this.push(value);
      else if (kind !== 'leaf') this.pending.push([kind, value as SyntaxNode]);
    }
    this.names(type, node);
  }

  private names(type: string, node: SyntaxNode): void {
    switch (type) {
      case 'FuncCall':
        return this.builtin('function', stringsOf(node['funcname']), allowedFunctions);
      case 'A_Expr':
        // BETWEEN is written as an operator's name, and means `>=` and `<=`.
        if (/^AEXPR_(NOT_)?BETWEEN(_SYM)?$/.test(node['kind'] as string)) return;
        return this.builtin('operator', stringsOf(node['name']), allowedOperators);
      case 'SubLink':
        if (node['operName']) this.builtin('operator', stringsOf(node['operName']), allowedOperators);
        return;
      case 'TypeName':
        return this.builtin('type', stringsOf(node['names']), allowedTypes);
      case 'SQLValueFunction':
        if (!allowedValueFunctions.has(node['op'] as string)) throw new Refused('That value is not available here.');
        return;
      case 'CommonTableExpr':
        this.withNames.add(node['ctename'] as string);
        return;
      case 'RangeVar':
        if (node['schemaname'] !== undefined && node['schemaname'] !== 'public')
          throw new Refused(`Schema ${quoted(node['schemaname'])} is not available here.`);
        if (node['schemaname'] !== undefined && !this.readable.tables.has(node['relname'] as string))
          throw new Refused(`There is no table ${quoted(node['relname'])}.`);
        this.tables.push(node['relname'] as string);
        return;
      case 'ColumnRef':
        return stringsOf(node['fields'])
          .slice(1)
          .forEach((name) => this.attribute(name));
      case 'A_Indirection':
        return stringsOf(node['indirection']).forEach((name) => this.attribute(name));
    }
  }

  private builtin(what: string, names: readonly string[], allowed: ReadonlySet<string>): void {
    const name = names.at(-1) ?? '';
    const builtin = names.length === 1 || (names.length === 2 && names[0] === 'pg_catalog');
    if (!builtin || !allowed.has(name))
      throw new Refused(`The ${what} ${quoted(names.join('.'))} is not allowed here.`);
  }

  /**
   * To Postgres, `x.f` is the function f called with x where x has no column f: `(1::int8).pg_advisory_lock` takes the lock. So the name
   * after a dot is a column of a table, or the name of no function but an allowed one.
   */
  private attribute(name: string): void {
    if (this.readable.columns.has(name) || allowedFunctions.has(name) || !this.readable.functions.has(name)) return;
    throw new Refused(
      `After a dot, ${quoted(name)} would call a function that is not allowed here: name the column differently.`,
    );
  }

  /** A name of the WITH clause hides a table only where it is in scope, so one that looks like a system catalog's counts for nothing. */
  private relation(name: string): void {
    if (this.readable.tables.has(name) || (this.withNames.has(name) && !name.startsWith('pg_'))) return;
    throw new Refused(`There is no table ${quoted(name)}. Tables: ${[...this.readable.tables].join(', ')}.`);
  }
}

/** The strings of a list of names; other items (`*`, array subscripts) are nodes of their own or mean no name. */
function stringsOf(list: unknown): readonly string[] {
  return (list as { String?: { sval?: string } }[]).flatMap((item) => (item.String ? [item.String.sval ?? ''] : []));
}

const quoted = (name: unknown): string => JSON.stringify(name);
