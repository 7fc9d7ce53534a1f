import { readdirSync, readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { RootKeys } from '#server/crypto/root-key.ts';
import { openSnapshot, sealSnapshot } from '#server/crypto/snapshot-seal.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { digest } from '#server/crypto/tokens.ts';
import { log } from '#server/platform/log.ts';
import { privateFolder } from '#server/platform/private-folder.ts';
import { isComplete, type SpaceRows } from './slices.ts';

// A gateway that starts while the database is away serves from here (interface rule 12 §15). Everything on disk is sealed; secret values
// inside are still under their own content keys.

const FORMAT = 1;
const CONFIRMED = 'confirmed';

export type Disk = {
  /** The kept spaces, and when they were last confirmed (epoch milliseconds, 0 for never). Unreadable files are skipped. */
  read(): { spaces: SpaceRows[]; confirmedAt: number };
  /** Keeps one space; writes nothing when the file already says the same. Never rejects. */
  keep(rows: SpaceRows): Promise<void>;
  confirm(at: number): Promise<void>;
  forget(tenantId: string): Promise<void>;
  /** Waits for writes under way. */
  settled(): Promise<void>;
};

export function createDisk(folder: string, roots: RootKeys): Disk {
  privateFolder(folder);
  const written = new Map<string, string>();
  let queue: Promise<void> = Promise.resolve();

  const write = (name: string, text: string): Promise<void> => {
    const print = digest(text).toString('base64');
    if (written.get(name) === print) return queue;
    written.set(name, print);
    // One after another: a burst of changes must not open a thousand files.
    queue = queue.then(async () => {
      if (written.get(name) !== print) return; // a newer copy stands behind this one in the queue
      try {
        const file = path.join(folder, `${name}.bin`);
        const draft = `${file}.${process.pid}.tmp`;
        await writeFile(draft, sealSnapshot(roots.current, name, Buffer.from(text)), { mode: 0o600 });
        await rename(draft, file);
      } catch (error) {
        written.delete(name);
        log.warn({ err: error }, 'cannot write the configuration snapshot to disk');
      }
    });
    return queue;
  };

  const readOne = (file: string): unknown => {
    const name = file.slice(0, -4);
    try {
      const text = openSnapshot(roots, name, readFileSync(path.join(folder, file))).toString();
      written.set(name, digest(text).toString('base64'));
      return JSON.parse(text);
    } catch (error) {
      log.warn(
        { file, reason: error instanceof DecryptFailed ? 'sealed with another key, or damaged' : 'unreadable' },
        'skipped a configuration snapshot',
      );
      return undefined;
    }
  };

  return {
    read() {
      const files = readdirSync(folder).filter((file) => file.endsWith('.bin'));
      const confirmed = files.includes(`${CONFIRMED}.bin`) ? (readOne(`${CONFIRMED}.bin`) as { at?: number } | undefined) : undefined;
      const spaces: SpaceRows[] = [];
      for (const file of files) {
        if (file === `${CONFIRMED}.bin`) continue;
        const copy = readOne(file) as { format: number; rows: object } | undefined;
        if (copy?.format === FORMAT && isComplete(copy.rows)) spaces.push(copy.rows);
      }
      return { spaces, confirmedAt: confirmed?.at ?? 0 };
    },
    keep: (rows) => write(`${rows.tenant.id}.${rows.space}`, JSON.stringify({ format: FORMAT, rows })),
    confirm: (at) => write(CONFIRMED, JSON.stringify({ at })),
    forget(tenantId) {
      for (const space of ['live', 'test']) written.delete(`${tenantId}.${space}`);
      queue = queue.then(() =>
        Promise.all(['live', 'test'].map((space) => rm(path.join(folder, `${tenantId}.${space}.bin`), { force: true }))).then(
          () => {},
          () => {},
        ),
      );
      return queue;
    },
    async settled() {
      // A write that is queued while we wait extends the queue.
      for (let last: Promise<void> | undefined; last !== queue; ) {
        last = queue;
        await last;
      }
    },
  };
}
