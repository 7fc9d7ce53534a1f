import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { log } from '#server/platform/log.ts';
import { privateFolder } from '#server/platform/private-folder.ts';
import { counter } from '#server/platform/telemetry/meters.ts';
import type { LogRow } from './row.ts';

export type Spill = {
  /** Appends rows; false when the disk does not take them. Synchronous: it runs when memory is the thing that is short. */
  push(rows: readonly LogRow[]): boolean;
  /** Hands the kept rows over in batches and forgets each file once `write` took all of it. Stops at the first failure. */
  drain(write: (rows: LogRow[]) => Promise<void>): Promise<void>;
  readonly holds: boolean;
};

const lost = counter({ name: 'sallyport_request_log_lost', help: 'Rows of the request log that neither the database nor the disk took' });
export const spilled = counter({ name: 'sallyport_request_log_spilled_rows', help: 'Rows of the request log that went to the disk' });

const BATCH = 500;
const MAX_FILE_ROWS = 20_000;

/** Rows that could not be written to the database, on disk, one JSON text a line. Files of an earlier process of this node are found again. */
export function createSpill(folder: string): Spill {
  privateFolder('LOG_SPILL_DIR', folder);
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.ndjson'))
    .sort()
    .map((name) => path.join(folder, name));
  let open: { file: string; rows: number } | undefined;
  let serial = 0;

  return {
    push(rows) {
      try {
        if (!open || open.rows >= MAX_FILE_ROWS) {
          open = { file: path.join(folder, `${Date.now()}-${process.pid}-${serial++}.ndjson`), rows: 0 };
          files.push(open.file);
        }
        appendFileSync(open.file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''), { mode: 0o600 });
        open.rows += rows.length;
        spilled.cells[0] = (spilled.cells[0] as number) + rows.length;
        return true;
      } catch (error) {
        lost.cells[0] = (lost.cells[0] as number) + rows.length;
        log.error({ err: error, rows: rows.length }, 'request log rows lost: neither the database nor the disk accepts them');
        return false;
      }
    },
    async drain(write) {
      for (let file = files[0]; file !== undefined; file = files[0]) {
        if (open?.file === file) open = undefined; // new rows go to another file from now on
        const rows = existsSync(file) ? readRows(file) : [];
        for (let i = 0; i < rows.length; i += BATCH) await write(rows.slice(i, i + BATCH));
        rmSync(file, { force: true });
        files.shift();
      }
    },
    get holds() {
      return files.length > 0;
    },
  };
}

/** A line that was cut off by a crash is left out. */
function readRows(file: string): LogRow[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as LogRow];
      } catch {
        return [];
      }
    });
}
