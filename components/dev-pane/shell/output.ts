import type { Answer } from '#components/explorer/use-explorer.ts';
import { nextStepOf } from '#components/trpc/refusal.ts';
import type { Command } from './commands.ts';

export type Row = Record<string, unknown>;
/** What an answer of the API comes to, once nothing in it is shown that is shown once. */
export type Shown = { data: unknown; rows: Row[] | undefined; warnings: string[]; more: string | undefined; text: string };
export type ShownOnceValue = { name: string; value: string };

/** What stands in the output for a value that was handed over by itself. */
export const HANDED_OVER = '(shown once, by itself)';

/** An answer taken apart. `once` holds what must be handed to the person and kept nowhere. */
export function takenApart(answer: Answer, { op, words }: Command): { shown: Shown; once: ShownOnceValue[] } {
  const once: ShownOnceValue[] = [];
  const whole = parsed(answer.body);
  const clean = whole === undefined ? undefined : without(whole, new Set(op.shownOnce), once);
  const { data = clean, meta = {} } = (isObject(clean) ? clean : {}) as { data?: unknown; meta?: Row };
  const rows = Array.isArray(data) && data.every(isObject) ? (data as Row[]) : undefined;
  return {
    once,
    shown: {
      data,
      rows,
      warnings: Array.isArray(meta.warnings) ? meta.warnings.map(String) : [],
      more: rows && moreOf(rows, meta, words.join(' ')),
      text: clean === undefined ? answer.body : JSON.stringify(clean, null, 2),
    },
  };
}

/** What was refused, and what to do about it. */
export function refusalIn(answer: Answer): { message: string; next: string | undefined } {
  const { error } = (parsed(answer.body) ?? {}) as { error?: { type?: string; message?: string } };
  return { message: error?.message ?? `The call was answered with ${answer.status}.`, next: nextStepOf(error?.type ?? '') };
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

function without(value: unknown, names: ReadonlySet<string>, once: ShownOnceValue[]): unknown {
  if (names.size === 0) return value;
  if (Array.isArray(value)) return value.map((one) => without(one, names, once));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (!names.has(name) || typeof member !== 'string') return [name, without(member, names, once)];
      once.push({ name, value: member });
      return [name, HANDED_OVER];
    }),
  );
}

function moreOf(rows: readonly Row[], meta: Row, line: string): string | undefined {
  const { total, page, total_pages, next_cursor } = meta;
  if (typeof total === 'number' && typeof page === 'number' && typeof total_pages === 'number')
    return `${rows.length} of ${total}${page < total_pages ? `; go on with \`${line} --page ${page + 1}\`` : ''}`;
  if (typeof next_cursor === 'string' && next_cursor.length < 200 && rows.length > 0)
    return `${rows.length}; go on with \`${line} --cursor ${next_cursor}\``;
  return `${rows.length} in all`;
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
