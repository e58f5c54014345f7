/**
 * The part of PostgreSQL's grammar that a statement may use, as node types and their fields. What is not here is refused: node types (`do`,
 * `copy`, `xmlparse`, parameters), and fields (`select into`, `for update`, `order by using`, table samples, column definition lists).
 *
 *   nodes   wrapped nodes, alone or in lists
 *   leaf    a constant or a name, which `check.ts` looks at where it matters
 *   other   the name of a node type: libpg_query writes such a field without its wrapper
 */
export type Field = 'nodes' | 'leaf' | (string & {});

const leaf = (...fields: string[]) => fields.map((field) => [field, 'leaf'] as const);
const nodes = (...fields: string[]) => fields.map((field) => [field, 'nodes'] as const);
const one = (field: string, type: string) => [[field, type] as const];
const shape = (...parts: (readonly (readonly [string, Field])[])[]): ReadonlyMap<string, Field> =>
  new Map([...parts.flat(), ['location', 'leaf']]);

export const grammar: ReadonlyMap<string, ReadonlyMap<string, Field>> = new Map([
  [
    'SelectStmt',
    shape(
      nodes('distinctClause', 'targetList', 'fromClause', 'whereClause', 'groupClause', 'havingClause', 'windowClause'),
      nodes('valuesLists', 'sortClause', 'limitOffset', 'limitCount'),
      leaf('groupDistinct', 'limitOption', 'op', 'all'),
      one('withClause', 'WithClause'),
      one('larg', 'SelectStmt'),
      one('rarg', 'SelectStmt'),
    ),
  ],
  ['WithClause', shape(nodes('ctes'), leaf('recursive'))],
  ['CommonTableExpr', shape(nodes('ctequery'), leaf('ctename', 'aliascolnames', 'ctematerialized'))],
  ['ResTarget', shape(nodes('val'), leaf('name'))],

  // from
  ['RangeVar', shape(leaf('schemaname', 'relname', 'inh', 'relpersistence'), one('alias', 'Alias'))],
  ['RangeSubselect', shape(nodes('subquery'), leaf('lateral'), one('alias', 'Alias'))],
  ['RangeFunction', shape(nodes('functions'), leaf('lateral', 'ordinality', 'is_rowsfrom'), one('alias', 'Alias'))],
  [
    'JoinExpr',
    shape(
      nodes('larg', 'rarg', 'quals'),
      leaf('jointype', 'isNatural', 'usingClause'),
      one('alias', 'Alias'),
      one('join_using_alias', 'Alias'),
    ),
  ],
  ['Alias', shape(leaf('aliasname', 'colnames'))],

  // expressions
  ['A_Const', shape(leaf('ival', 'fval', 'sval', 'boolval', 'bsval', 'isnull'))],
  ['A_Expr', shape(nodes('lexpr', 'rexpr'), leaf('kind', 'name', 'rexpr_list_start', 'rexpr_list_end'))],
  ['A_ArrayExpr', shape(nodes('elements'), leaf('list_start', 'list_end'))],
  ['A_Indices', shape(nodes('lidx', 'uidx'), leaf('is_slice'))],
  ['A_Indirection', shape(nodes('arg', 'indirection'))],
  ['A_Star', shape()],
  ['BoolExpr', shape(nodes('args'), leaf('boolop'))],
  ['BooleanTest', shape(nodes('arg'), leaf('booltesttype'))],
  ['CaseExpr', shape(nodes('arg', 'args', 'defresult'))],
  ['CaseWhen', shape(nodes('expr', 'result'))],
  ['CoalesceExpr', shape(nodes('args'))],
  ['CollateClause', shape(nodes('arg'), leaf('collname'))],
  ['ColumnRef', shape(leaf('fields'))],
  [
    'FuncCall',
    shape(
      nodes('args', 'agg_order', 'agg_filter'),
      leaf('funcname', 'agg_within_group', 'agg_star', 'agg_distinct', 'funcformat'),
      one('over', 'WindowDef'),
    ),
  ],
  ['GroupingFunc', shape(nodes('args'))],
  ['GroupingSet', shape(nodes('content'), leaf('kind'))],
  ['List', shape(nodes('items'))],
  ['MinMaxExpr', shape(nodes('args'), leaf('op'))],
  ['NamedArgExpr', shape(nodes('arg'), leaf('name', 'argnumber'))],
  ['NullTest', shape(nodes('arg'), leaf('nulltesttype', 'argisrow'))],
  ['RowExpr', shape(nodes('args'), leaf('row_format'))],
  ['SortBy', shape(nodes('node'), leaf('sortby_dir', 'sortby_nulls'))],
  ['SQLValueFunction', shape(leaf('op', 'typmod'))],
  ['String', shape(leaf('sval'))],
  ['SubLink', shape(nodes('testexpr', 'subselect'), leaf('subLinkType', 'operName'))],
  ['TypeCast', shape(nodes('arg'), one('typeName', 'TypeName'))],
  ['TypeName', shape(nodes('typmods'), leaf('names', 'typemod', 'arrayBounds'))],
  [
    'WindowDef',
    shape(nodes('partitionClause', 'orderClause', 'startOffset', 'endOffset'), leaf('name', 'refname', 'frameOptions')),
  ],
]);
