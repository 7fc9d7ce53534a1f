import { isExact } from '#server/kernel/lossless-json.ts';
import type { Envelope } from '../client.ts';
import { plain, type Terminal } from './terminal.ts';

/** The answer of an operation: as JSON as it came, else a table or the members of an object. Warnings go to standard error. */
export function printAnswer(answer: Envelope, json: boolean, terminal: Terminal): void {
  printWarnings(warningsOf(answer), terminal);
  if (json) terminal.print(jsonOf(answer, 2));
  else if (Array.isArray(answer.data)) printPage(answer.data, answer.meta, terminal);
  else printObject(answer.data, terminal);
}

export const warningsOf = (answer: Envelope): string[] =>
  [answer.warning, ...((answer.meta?.warnings as string[] | undefined) ?? [])].flatMap((one) => one || []);

export function printWarnings(warnings: Iterable<string>, terminal: Terminal): void {
  for (const warning of warnings) terminal.error(`${terminal.style.yellow('Warning:')} ${plain(warning)}`);
}

/** JSON whose text can't steer a terminal either: the same value, with what `plain` replaces written as escapes. */
export const jsonOf = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function printPage(rows: readonly unknown[], meta: Envelope['meta'], terminal: Terminal): void {
  printTable(rows, terminal);
  const { page, total_pages, total, next_cursor } = meta as Record<string, number | string | null | undefined>;
  if (Number(total_pages) > 1) terminal.error(terminal.style.dim(`Page ${page} of ${total_pages}, ${total} in all. --all shows them.`));
  if (next_cursor) terminal.error(terminal.style.dim('There is more. --all shows it.'));
}

export function printRows(rows: readonly unknown[], json: boolean, terminal: Terminal): void {
  if (json) terminal.print(jsonOf({ data: rows }, 2));
  else printTable(rows, terminal);
}

export function printObject(value: unknown, { print, style }: Pick<Terminal, 'print' | 'style'>): void {
  const entries = Object.entries(value ?? {});
  const width = Math.max(...entries.map(([name]) => name.length));
  for (const [name, one] of entries) print(`${style.dim(plain(name).padEnd(width))}  ${cell(one)}`);
}

const GAP = '  ';

/** As many columns as the terminal has room for; where nobody reads, all of them. */
function printTable(rows: readonly unknown[], terminal: Terminal): void {
  if (rows.length === 0) terminal.error(terminal.style.dim('Nothing found.'));
  const columns = columnsOf(rows as Record<string, unknown>[]);
  if (columns.length === 0) {
    for (const row of rows) terminal.print(cell(row));
    return;
  }
  const cells = (rows as Record<string, unknown>[]).map((row) => columns.map((name) => shortened(cell(row[name]))));
  const widths = columns.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0)));
  let shown = columns.length;
  const total = () => widths.slice(0, shown).reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  while (terminal.interactive && shown > 2 && total() > terminal.width) shown--;
  const line = (texts: readonly string[]) =>
    texts
      .slice(0, shown)
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join(GAP)
      .trimEnd();
  terminal.print(terminal.style.bold(line(columns.map((name) => name.toUpperCase()))));
  for (const row of cells) terminal.print(line(row));
}

const FIRST = ['name', 'id', 'slug', 'key', 'action', 'ts', 'method', 'status_code', 'path'];

/** Members that a table can show and that say something: what identifies a row first. */
function columnsOf(rows: readonly Record<string, unknown>[]): string[] {
  const scalar = (value: unknown) => value === null || typeof value !== 'object' || isExact(value);
  const names = Object.keys(rows[0] ?? {}).filter(
    (name) => rows.every((row) => scalar(row[name])) && rows.some((row) => row[name] !== null && row[name] !== undefined),
  );
  const rank = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return names.filter((name) => name !== 'cursor' && name !== 'tenant_id').sort((a, b) => rank(a) - rank(b));
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return plain(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

const LONGEST_CELL = 60;
const shortened = (text: string) => (text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL - 1)}…` : text);
