import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
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
/** By more than that no clock may be behind the one that confirmed a copy: nobody could tell how old it is. */
const CLOCK_MS = 60_000;
/** A draft is older only when the process that wrote it was killed; another gateway may be writing a younger one. */
const DRAFT_MS = 10 * 60_000;

export type Disk = {
  /**
   * The kept spaces, and when they were last confirmed (epoch milliseconds, 0 for never). Unreadable files are skipped; `complete`: none of what was
   * confirmed is missing.
   */
  read(): { spaces: SpaceRows[]; confirmedAt: number; complete: boolean };
  /** Keeps one space; writes nothing when the file already says the same. Never rejects. When the disk doesn't take it, the older copy goes too. */
  keep(rows: SpaceRows): Promise<void>;
  /** Everything that is kept was true at that time. Says nothing while the disk holds a copy that couldn't be replaced. */
  confirm(at: number): Promise<void>;
  forget(tenantId: string): Promise<void>;
  /** Waits for writes under way. */
  settled(): Promise<void>;
};

export function createDisk(folder: string, roots: RootKeys): Disk {
  privateFolder('DATA_DIR', folder);
  let swept = removeDrafts(folder);
  const written = new Map<string, string>();
  /** Names of the spaces that belong on the disk. */
  const kept = new Set<string>();
  /** Names of files that tell what is no longer true. */
  const outdated = new Set<string>();
  let queue: Promise<void> = Promise.resolve();
  const fileOf = (name: string) => path.join(folder, `${name}.bin`);

  const put = async (name: string, text: string): Promise<void> => {
    const file = fileOf(name);
    const draft = `${file}.${process.pid}.tmp`;
    try {
      await writeFile(draft, sealSnapshot(roots.current, name, Buffer.from(text)), { mode: 0o600 });
      await rename(draft, file);
      outdated.delete(name);
    } catch (error) {
      written.delete(name);
      await rm(draft, { force: true }).catch(() => {});
      log.warn({ err: error }, 'cannot write the configuration snapshot to disk');
      if (name === CONFIRMED) return; // an earlier time is as true
      // In the copy of before, a key that was revoked since is still good.
      outdated.add(name);
      await removeOutdated();
    }
  };

  const removeOutdated = async (): Promise<void> => {
    for (const name of [...outdated])
      await rm(fileOf(name), { force: true }).then(
        () => outdated.delete(name),
        () => {},
      );
  };

  const write = (name: string, text: string): Promise<void> => {
    const print = digest(text).toString('base64');
    if (written.get(name) === print) return queue;
    written.set(name, print);
    // One after another: a burst of changes must not open a thousand files.
    queue = queue.then(() => {
      if (written.get(name) === print) return put(name, text); // else a newer copy stands behind this one in the queue
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
      const confirmed = files.includes(`${CONFIRMED}.bin`)
        ? (readOne(`${CONFIRMED}.bin`) as { at?: number; spaces?: number } | undefined)
        : undefined;
      const spaces: SpaceRows[] = [];
      for (const file of files) {
        if (file === `${CONFIRMED}.bin`) continue;
        const copy = readOne(file) as { format: number; rows: object } | undefined;
        if (copy?.format !== FORMAT || !isComplete(copy.rows)) continue;
        spaces.push(copy.rows);
        kept.add(file.slice(0, -4));
      }
      let confirmedAt = confirmed?.at ?? 0;
      if (confirmedAt > Date.now() + CLOCK_MS) {
        log.error(
          { confirmed: new Date(confirmedAt) },
          'the configuration snapshot on disk is of the future: check the clock of this machine',
        );
        confirmedAt = 0;
      }
      return { spaces, confirmedAt, complete: spaces.length >= (confirmed?.spaces ?? 0) };
    },
    keep(rows) {
      const name = `${rows.tenant.id}.${rows.space}`;
      kept.add(name);
      return write(name, JSON.stringify({ format: FORMAT, rows }));
    },
    confirm(at) {
      queue = queue.then(async () => {
        if (Date.now() - swept > DRAFT_MS) swept = removeDrafts(folder);
        await removeOutdated();
        if (outdated.size === 0) await put(CONFIRMED, JSON.stringify({ at, spaces: kept.size }));
      });
      return queue;
    },
    forget(tenantId) {
      const names = ['live', 'test'].map((space) => `${tenantId}.${space}`);
      for (const name of names) {
        written.delete(name);
        kept.delete(name);
      }
      queue = queue.then(() => {
        for (const name of names) outdated.add(name);
        return removeOutdated();
      });
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

/** Removes what killed processes left half written, and returns when. Never throws: what can't be listed or removed now waits for the next time. */
function removeDrafts(folder: string): number {
  const now = Date.now();
  try {
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.tmp'))) removeDraft(path.join(folder, name), now);
  } catch (error) {
    log.warn({ err: error }, 'cannot look for half-written configuration snapshots');
  }
  return now;
}

function removeDraft(file: string, now: number): void {
  try {
    if (now - statSync(file).mtimeMs > DRAFT_MS) rmSync(file, { recursive: true, force: true });
  } catch {
    // its writer moved or removed it just now
  }
}
