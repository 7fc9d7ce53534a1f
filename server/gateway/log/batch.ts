import { COLUMNS } from './columns.ts';
import { copyLine, readCopyLine } from './copy.ts';
import type { LogRow } from './row.ts';
import { newTallies } from './tally.ts';

/**
 * Rows on their way to the database, as the bytes COPY sends and as what they add up to. Thousands of calls are on that way at a time: kept
 * as objects they would be copied about by every collection of garbage.
 */
export type LogBatch = ReturnType<typeof newBatch>;

const ROW_BYTES = 1024;

export function newBatch(capacity: number) {
  const tallies = newTallies();
  let bytes: Buffer = Buffer.allocUnsafeSlow(capacity * ROW_BYTES);
  let used = 0;
  let size = 0;

  return {
    add(row: LogRow): void {
      const line = copyLine(COLUMNS, row);
      const most = used + line.length * 3;
      if (most > bytes.length) bytes = enlarged(bytes, used, most);
      used += bytes.write(line, used);
      size++;
      tallies.add(row);
    },
    get size() {
      return size;
    },
    /** Of all rows, each with its line end. */
    lines: (): Buffer => bytes.subarray(0, used),
    tallies: tallies.all,
    /** The rows one by one, for the disk and for a database that has some of them. */
    rows: (): LogRow[] =>
      bytes
        .toString('utf8', 0, used)
        .split('\n', size)
        .map((line) => readCopyLine<LogRow>(COLUMNS, line)),
  };
}

export function batchOf(rows: readonly LogRow[]): LogBatch {
  const batch = newBatch(rows.length);
  for (const row of rows) batch.add(row);
  return batch;
}

function enlarged(bytes: Buffer, used: number, least: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, least));
  bytes.copy(larger, 0, 0, used);
  return larger;
}
