import { COLUMNS, logLine } from './columns.ts';
import { MESSAGE_HEAD, readCopyLine } from './copy.ts';
import type { LogRow } from './row.ts';
import { newTallies } from './tally.ts';

/**
 * Rows waiting for the database, as the bytes that COPY sends and as tallies. Thousands of calls wait at a time: kept
 * as objects they would be copied about by every collection of garbage.
 */
export type LogBatch = ReturnType<typeof newBatch>;

const ROW_BYTES = 1024;

/** Memory in which that many rows have room mostly. */
export const memoryFor = (rows: number): Buffer => Buffer.allocUnsafeSlow(rows * ROW_BYTES + MESSAGE_HEAD);

/** An empty batch, which owns the memory it is given. */
export function newBatch(memory: Buffer) {
  const tallies = newTallies();
  let bytes = memory;
  let used = MESSAGE_HEAD;
  let size = 0;

  return {
    add(row: LogRow): void {
      const line = logLine(row);
      const most = used + line.length * 3;
      if (most > bytes.length) bytes = enlarged(bytes, used, most);
      used += bytes.write(line, used);
      size++;
      tallies.add(row);
    },
    get size() {
      return size;
    },
    /** Where the next line will begin in `message()`. */
    get end() {
      return used;
    },
    /** All rows, each with its line end, behind the room for the head of the message that carries them. */
    message: (): Buffer => bytes.subarray(0, used),
    tallies: tallies.all,
    /** The rows one by one, for the disk and for a database that has some of them. */
    rows: (): LogRow[] =>
      bytes
        .toString('utf8', MESSAGE_HEAD, used)
        .split('\n', size)
        .map((line) => readCopyLine<LogRow>(COLUMNS, line)),
    /** Ends the batch and returns its memory for another one. Call it only when none of it is still being sent. */
    release(): Buffer {
      const memory = bytes;
      bytes = NOTHING;
      used = 0;
      return memory;
    },
  };
}

const NOTHING = Buffer.alloc(0);

export function batchOf(rows: readonly LogRow[]): LogBatch {
  const batch = newBatch(memoryFor(rows.length));
  for (const row of rows) batch.add(row);
  return batch;
}

function enlarged(bytes: Buffer, used: number, least: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, least));
  bytes.copy(larger, 0, 0, used);
  return larger;
}
