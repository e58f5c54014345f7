import createInstance from 'libpg-query/wasm/libpg-query.js';

/**
 * PostgreSQL's own parser, as WASM. The package's `parse` keeps one instance for the life of the process, and a statement that nests so
 * deep that the stack overflows leaves some of that instance's memory behind: after some sixty of them every later parse fails. So the
 * instance is ours, and one that failed in such a way is thrown away.
 */
interface Instance {
  lengthBytesUTF8(text: string): number;
  stringToUTF8(text: string, pointer: number, bytes: number): void;
  UTF8ToString(pointer: number): string;
  getValue(pointer: number, type: 'i32'): number;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  _wasm_parse_query_raw(text: number): number;
  _wasm_free_parse_result(result: number): void;
}

/** `{NodeType: {field: ...}}` as libpg_query writes it. */
export type SyntaxNode = Readonly<Record<string, unknown>>;

export type Parsed =
  | { readonly ok: true; readonly statements: readonly SyntaxNode[] }
  /** `message` is the parser's. */
  | { readonly ok: false; readonly message: string };

let current: Promise<Instance> | undefined;

export async function parseSql(sql: string): Promise<Parsed> {
  const instance = await (current ??= createInstance() as Promise<Instance>);
  try {
    return parseIn(instance, sql);
  } catch {
    current = undefined;
    return { ok: false, message: 'the statement nests too deeply' };
  }
}

function parseIn(instance: Instance, sql: string): Parsed {
  const size = instance.lengthBytesUTF8(sql) + 1;
  const text = instance._malloc(size);
  instance.stringToUTF8(sql, text, size);
  const result = instance._wasm_parse_query_raw(text);
  // struct PgQueryParseResult { char *parse_tree; char *stderr_buffer; PgQueryError *error; }, PgQueryError { char *message; ... }
  const error = instance.getValue(result + 8, 'i32');
  const parsed: Parsed = error
    ? { ok: false, message: instance.UTF8ToString(instance.getValue(error, 'i32')) }
    : { ok: true, statements: statementsOf(instance.UTF8ToString(instance.getValue(result, 'i32'))) };
  instance._wasm_free_parse_result(result);
  instance._free(text);
  return parsed;
}

function statementsOf(tree: string): readonly SyntaxNode[] {
  const { stmts = [] } = JSON.parse(tree) as { stmts?: { stmt: SyntaxNode }[] };
  return stmts.map((raw) => raw.stmt);
}
