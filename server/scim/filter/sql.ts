import { fold } from '#server/kernel/fold.ts';
import type { Comparison, Filter } from './filter.ts';

// A filter as SQL (interface rule 23 §5.1). Its text is built from the code and the columns alone: what the caller wrote is a parameter. Nothing is matched
// by LIKE, so no character of a value means more than itself.

/** Where rows hold an attribute: an SQL expression by its type. A key of `Columns` is the path of a filter, without the URN. */
export type Column =
  /** `folded` is a column that holds what `fold` made of the text. */
  | { type: 'text'; sql: string; folded?: string }
  | { type: 'uuid'; sql: string }
  | { type: 'boolean'; sql: string }
  | { type: 'time'; sql: string }
  /**
   * A list: `from` yields a row per element, which `parts` are expressions over. `holding` is a condition that every row with an element of this value
   * passes, whatever the case of a parameter, for an index.
   */
  | { type: 'list'; from: string; parts: Columns; holding?: (value: string) => string };
export type Columns = Readonly<Record<string, Column>>;

/**
 * The condition that the rows a filter finds are those for which it is TRUE: an absent attribute makes a comparison NULL, as if it were false.
 * Parameters are numbered from `first`.
 */
export function toSql(filter: Filter, columns: Columns, first = 1): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown, type: string) => `$${first - 1 + values.push(value)}::${type}`;
  return { text: condition(filter, columns, bind), values };
}

type Bind = (value: unknown, type: string) => string;

function condition(filter: Filter, columns: Columns, bind: Bind): string {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return `(${filter.parts.map((part) => condition(part, columns, bind)).join(` ${filter.kind} `)})`;
    case 'not':
      return `(${condition(filter.part, columns, bind)} is not true)`;
    case 'within': {
      const { from, parts, holding } = columnOf(columns, filter.path, 'list');
      const exists = `exists (select from ${from} where ${condition(filter.part, parts, bind)})`;
      const value = holding && requiredValue(filter.part);
      return value === undefined ? exists : `(${holding?.(bind(value, 'text'))} and ${exists})`;
    }
    case 'present':
      return present(columnOf(columns, filter.path));
    case 'compare': {
      const { path, attribute, op, value } = filter;
      // "Not equal" holds for an absent value too.
      if (op === 'ne') return `(${condition({ ...filter, op: 'eq' }, columns, bind)} is not true)`;
      if (typeof value === 'boolean') {
        const { sql } = columnOf(columns, path, 'boolean');
        return value ? `(${sql})` : `(not (${sql}))`;
      }
      if (value instanceof Date)
        return `(${columnOf(columns, path, 'time').sql} ${OPERATORS[op]} ${bind(value.toISOString(), 'timestamptz')})`;
      return comparedText(columnOf(columns, path), attribute.caseExact, op, value, bind);
    }
  }
}

/** The value that an element must have to pass, if the filter names one. */
function requiredValue(filter: Filter): string | undefined {
  if (filter.kind === 'and') return filter.parts.map(requiredValue).find((value) => value !== undefined);
  return filter.kind === 'compare' && filter.path === 'value' && filter.op === 'eq' && typeof filter.value === 'string'
    ? filter.value
    : undefined;
}

const OPERATORS: Partial<Record<Comparison, string>> = { eq: '=', gt: '>', ge: '>=', lt: '<', le: '<=' };

function present(column: Column): string {
  if (column.type === 'list') throw new Error('The presence of a list is that of an element.');
  return column.type === 'text' ? `(${column.sql} <> '')` : `(${column.sql} is not null)`;
}

/** Texts are ordered by code points, whatever the locale of the database. */
function comparedText(column: Column, exact: boolean, op: Comparison, value: string, bind: Bind): string {
  if (column.type === 'uuid' && op === 'eq') return UUID.test(value) ? `(${column.sql} = ${bind(value, 'uuid')})` : 'false';
  if (column.type === 'list' || !('sql' in column)) throw new Error('A list has no text.');
  const text = column.type === 'uuid' ? `${column.sql}::text` : column.sql;
  const [left, right] = sides(text, column.type === 'text' ? column.folded : undefined);
  switch (op) {
    case 'co':
      return `(strpos(${left}, ${right}) > 0)`;
    case 'sw':
      return `(${left} ^@ ${right})`;
    case 'ew':
      return `(right(${left}, length(${right})) = ${right})`;
    default:
      return `(${left} ${OPERATORS[op]} ${right})`;
  }

  function sides(text: string, folded: string | undefined): [string, string] {
    if (exact) return [text, `${bind(value, 'text')} collate "C"`];
    // Never one side folded here and the other there: the two may know different versions of Unicode.
    return folded
      ? [folded, `${bind(fold(value), 'text')} collate "C"`]
      : [`scim_fold(${text})`, `scim_fold(${bind(value, 'text')}) collate "C"`];
  }
}

/** As the service writes them; IDs are compared exactly. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function columnOf(columns: Columns, path: string): Column;
function columnOf<T extends Column['type']>(columns: Columns, path: string, type: T): Extract<Column, { type: T }>;
function columnOf(columns: Columns, path: string, type?: Column['type']): Column {
  const column = Object.hasOwn(columns, path) ? columns[path] : undefined;
  if (!column || (type && column.type !== type)) throw new Error(`There is no column for ${path}.`);
  return column;
}
