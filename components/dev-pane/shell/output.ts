import { parsed } from '#components/explorer/answer.ts';
import type { Answer } from '#components/explorer/send.ts';
import type { Command } from './commands.ts';

export type Row = Record<string, unknown>;
/** What an answer of the API comes to. */
export type Shown = { data: unknown; rows: Row[] | undefined; warnings: string[]; more: string | undefined; text: string };
/** What of an answer is shown, and how to go on from it. */
export function shownOf({ body }: Answer, { words }: Command): Shown {
  const whole = parsed(body);
  const { data = whole, meta = {} } = (isObject(whole) ? whole : {}) as { data?: unknown; meta?: Row };
  const rows = Array.isArray(data) && data.every(isObject) ? (data as Row[]) : undefined;
  return {
    data,
    rows,
    warnings: Array.isArray(meta.warnings) ? meta.warnings.map(String) : [],
    more: rows && moreOf(rows, meta, words.join(' ')),
    text: whole === undefined ? body : JSON.stringify(whole, null, 2),
  };
}

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

function moreOf(rows: readonly Row[], meta: Row, line: string): string | undefined {
  const { total, page, total_pages, next_cursor } = meta;
  if (typeof total === 'number' && typeof page === 'number' && typeof total_pages === 'number')
    return `${rows.length} of ${total}${page < total_pages ? `; next page: \`${line} --page ${page + 1}\`` : ''}`;
  if (typeof next_cursor === 'string' && next_cursor.length < 200 && rows.length > 0)
    return `${rows.length}; next page: \`${line} --cursor ${next_cursor}\``;
  return `${rows.length} total`;
}

const MOST_COLUMNS = 7;
const FIRST = ['name', 'slug', 'key', 'label', 'action', 'method', 'path', 'status_code'];

/** The columns worth a glance: names first, then what says something in at least one row and fits a line; the id last. */
export function columnsOf(rows: readonly Row[]): string[] {
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const saying = all.filter((name) => name !== 'id' && !/_id$/.test(name) && rows.some((row) => isSaying(row[name])));
  const ranked = [...FIRST.filter((name) => saying.includes(name)), ...saying.filter((name) => !FIRST.includes(name))];
  const ids = all.includes('id') ? ['id'] : all.filter((name) => /_id$/.test(name)).slice(0, 1);
  return [...ranked.slice(0, MOST_COLUMNS - ids.length), ...ids];
}

const isSaying = (value: unknown) =>
  (typeof value === 'string' && value !== '') ||
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string'));

/** A value as a line of text; undefined for what is better shown as JSON. */
export function lineOf(value: unknown): string | undefined {
  if (value === null || value === undefined || value === '') return '—';
  if (Array.isArray(value)) return value.length === 0 ? '—' : value.every((one) => typeof one !== 'object') ? value.join(', ') : undefined;
  return typeof value === 'object' ? undefined : String(value);
}
