import { COLUMNS } from './columns.ts';
import { type CopyColumns, readCopyLine } from './copy.ts';
import type { LogRow } from './row.ts';

// A file of the journal: a line that names the columns, then a line a row, as COPY takes it.

const MARK = 'sallyport-request-log 1';
const REQUEST_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const KINDS = new Map<string, CopyColumns<LogRow>[number]>(COLUMNS.map((column) => [column[0], column]));

export const journalHead: Buffer = Buffer.from(`${[MARK, ...COLUMNS.map(([name]) => name)].join('\t')}\n`);

/**
 * The rows of a file, also of another release, whose columns may be others. Undefined when it is no journal that this release can read. A last line without
 * its end was cut off by a crash; `damaged` counts other lines that aren't rows.
 */
export function readJournal(text: string): { rows: LogRow[]; damaged: number } | undefined {
  const [head = '', ...lines] = text.split('\n');
  lines.pop();
  const [mark, ...names] = head.split('\t');
  if (mark !== MARK) return undefined;
  const columns: CopyColumns<LogRow> = names.map((name) => KINDS.get(name) ?? [name as keyof LogRow, 'text']);
  const unknown = names.filter((name) => !KINDS.has(name));
  const rows = lines.flatMap((line) => rowOf(columns, line, unknown) ?? []);
  return { rows, damaged: lines.length - rows.length };
}

function rowOf(columns: CopyColumns<LogRow>, line: string, unknown: readonly string[]): LogRow | undefined {
  if (line.split('\t').length !== columns.length) return undefined;
  try {
    const row = { ...NONE, ...readCopyLine(columns, line) };
    for (const name of unknown) delete (row as Record<string, unknown>)[name];
    return REQUEST_ID.test(row.request_id) ? row : undefined;
  } catch {
    return undefined;
  }
}

/** What columns hold that an older release didn't write. */
const NONE = Object.fromEntries(COLUMNS.map(([name, kind]) => [name, kind === 'array' ? [] : null]));
