import { closeSync, fsync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { log } from '#server/platform/log.ts';
import { privateFolder } from '#server/platform/private-folder.ts';
import { counter } from '#server/platform/telemetry/meters.ts';
import type { LogBatch } from './batch.ts';
import { type JournalFile, makeJournalFile } from './journal-file.ts';
import { readJournal } from './journal-lines.ts';
import { hasEnded, thisProcess } from './journal-owner.ts';
import type { LogRow } from './row.ts';

/** The lines of one batch on the disk. */
export type FollowedBatch = {
  /** Appends what the batch got since the last time. Never throws. */
  append(): void;
  /** Whether everything in the batch is on the disk. */
  readonly whole: boolean;
  /** The database has it all. */
  drop(): void;
  /** The batch leaves memory: `drain` is to bring it. */
  leave(): void;
};

export type Journal = {
  follow(batch: LogBatch): FollowedBatch;
  /** Whether a process that is killed loses no line, or also a machine that stops. */
  readonly mode: 'on' | 'fsync';
  /** Resolves when what was appended outlives the machine, or never can. */
  synced(): Promise<void>;
  /** Looks for what processes left that ended; does so only now and then. */
  look(): void;
  /** Hands what was left over in batches and forgets each file once `write` took all of it. Stops at the first failure. */
  drain(write: (rows: LogRow[]) => Promise<void>): Promise<void>;
  readonly holds: boolean;
  readonly failing: boolean;
  /** Afterwards any process may take what was left. */
  close(): void;
};

const missed = counter({
  name: 'sallyport_request_log_unjournaled_rows',
  help: 'Rows of the request log that were not on the disk when their calls were answered',
});
const recovered = counter({
  name: 'sallyport_request_log_recovered_rows',
  help: 'Rows of the request log that were read from the journal, after a process was killed or the database was away',
});

const LOOK_MS = 10_000;
const RETRY_MS = 1_000;
/** A file that got nothing for this long gets nothing more, so that others may take it. */
const REST_MS = 10_000;
/** After that a file is taken whose owner can't be seen. */
const ABANDONED_MS = 30_000;
/** No call waits longer for a disk. */
const SYNC_MS = 5_000;
const BATCH = 500;
const NAME = /^(?<owner>[\w]+(?:\.[\w]+){3})-\d+\.log$/;
const LEFT = 'left-';

let serial = 0;

/**
 * Rows of the request log on the disk before their calls are answered: a file a batch, which is deleted when the database has it. A process that
 * is killed leaves its files, and the next one that looks writes them to the database, which knows rows it has by their request.
 */
export function createJournal(folder: string, mode: 'on' | 'fsync'): Journal {
  privateFolder('DATA_DIR', folder);
  /** Files to be read, the oldest first. */
  const waiting: string[] = [];
  const own = new Set<JournalFile>();
  const unsynced = new Set<JournalFile>();
  /** Files that can't be read: they are told about once. */
  const unreadable = new Set<string>();
  /** Whether files were made whose names may not outlive the machine yet. */
  let named = false;
  let lookAt = 0;
  const writes = outage('written');
  const syncs = outage('synced');

  function newFile(): JournalFile {
    const file = makeJournalFile(path.join(folder, `${thisProcess}-${serial++}.log`));
    own.add(file);
    named = true;
    return file;
  }

  function follow(batch: LogBatch): FollowedBatch {
    const start = batch.end;
    let file: JournalFile | undefined;
    let written = start;
    let seen = batch.size;

    const append = () => {
      if (batch.end === written) return;
      const missing = batch.size - seen;
      seen = batch.size;
      let target = file;
      try {
        if (writes.isRecent) throw WAITING;
        if (file === undefined || file.at < Date.now() - REST_MS) target = newFile();
        target?.append(batch.message().subarray(target === file ? written : start));
      } catch (error) {
        if (target && target !== file) forget(target);
        missed.cells[0] = (missed.cells[0] as number) + missing;
        if (error !== WAITING) writes.failed(error);
        return;
      }
      writes.worked();
      if (file && file !== target) forget(file);
      file = target;
      written = batch.end;
      if (mode === 'fsync' && file) unsynced.add(file);
    };
    return {
      append,
      get whole() {
        return batch.end === written;
      },
      drop() {
        if (file) forget(file);
      },
      leave() {
        if (!file) return;
        file.close();
        waiting.push(file.path);
      },
    };
  }

  function forget(file: JournalFile): void {
    own.delete(file);
    unsynced.delete(file);
    file.remove();
  }

  let syncing: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  /** What was asked of the disk and isn't answered, however long that takes. */
  let asked: Promise<unknown> | undefined;

  /** One sync at a time; those that are asked for meanwhile share the one after it. */
  function synced(): Promise<void> {
    if (next !== undefined) return next;
    if (syncing === undefined) return startSync();
    next = syncing.then(startSync);
    return next;
  }

  function startSync(): Promise<void> {
    next = undefined;
    // A disk that hangs would take one thread after another.
    if (asked !== undefined) return Promise.resolve();
    const files = [...unsynced];
    const work = Promise.all([...(named ? [syncFolder(folder)] : []), ...files.map((file) => file.sync())]);
    const done = () => {
      asked = undefined;
    };
    asked = work.then(done, done);
    unsynced.clear();
    named = false;
    syncing = within(SYNC_MS, work)
      .then(syncs.worked, syncs.failed)
      .finally(() => {
        syncing = undefined;
      });
    return syncing;
  }

  return {
    mode,
    follow,
    synced,
    look() {
      if (Date.now() < lookAt) return;
      lookAt = Date.now() + LOOK_MS;
      for (const name of namesIn(folder)) {
        const file = path.join(folder, name);
        if (!waiting.includes(file) && !unreadable.has(file) && isAbandoned(file, name)) waiting.push(file);
      }
    },
    async drain(write) {
      for (let file = waiting[0]; file !== undefined; file = waiting[0]) {
        const found = await readRows(file);
        if (found === undefined) unreadable.add(file);
        else {
          for (let i = 0; i < found.length; i += BATCH) await write(found.slice(i, i + BATCH));
          rmSync(file, { force: true });
          recovered.cells[0] = (recovered.cells[0] as number) + found.length;
          if (found.length > 0) log.info({ rows: found.length }, 'rows of the request log were read from the journal');
        }
        waiting.shift();
      }
    },
    get holds() {
      return waiting.length > 0;
    },
    get failing() {
      return writes.lasts || syncs.lasts;
    },
    close() {
      for (const file of own) file.close();
      for (const file of waiting) {
        const name = path.basename(file);
        if (name.startsWith(thisProcess)) tryTo(() => renameSync(file, path.join(folder, LEFT + name)));
      }
    },
  };
}

/** Says once that something doesn't work, and once that it does again. */
function outage(task: 'written' | 'synced') {
  let at = 0;
  return {
    get lasts() {
      return at !== 0;
    },
    /** It failed a moment ago: not every call is to try. */
    get isRecent() {
      return at > Date.now() - RETRY_MS;
    },
    failed(error: unknown): void {
      if (at === 0)
        log.error(
          { err: error },
          `the journal of the request log can't be ${task}: a gateway that is killed now loses rows of its last moments`,
        );
      at = Date.now();
    },
    worked(): void {
      if (at !== 0) log.info(`the journal of the request log is ${task} again`);
      at = 0;
    },
  };
}

const WAITING = new Error('The disk took nothing a moment ago.');

/** Whether the process that a file of a journal is named after has ended. */
export function isAbandoned(file: string, name: string): boolean {
  if (name.startsWith(LEFT)) return true;
  const owner = NAME.exec(name)?.groups?.owner;
  if (owner === undefined || owner === thisProcess) return false;
  return hasEnded(owner) ?? tryTo(() => statSync(file).mtimeMs < Date.now() - ABANDONED_MS) ?? false;
}

/** Undefined for a file that stays as it is. One that is gone was taken by another process. */
async function readRows(file: string): Promise<LogRow[] | undefined> {
  try {
    const text = await readFile(file, 'utf8');
    const found = text === '' ? { rows: [], damaged: 0 } : readJournal(text);
    if (!found) throw new Error('It is not a journal that this release can read.');
    if (found.damaged > 0) log.error({ file, lines: found.damaged }, 'lines in the journal of the request log are damaged');
    return found.rows;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    log.error({ err: error, file }, 'a file in the journal of the request log can’t be read, and is left alone');
    return undefined;
  }
}

const namesIn = (folder: string): string[] => tryTo(() => readdirSync(folder).sort()) ?? [];

/** A new file is found again only when its folder has it too. */
function syncFolder(folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fd = openSync(folder, 'r');
    fsync(fd, (error) => {
      closeSync(fd);
      if (error) reject(error);
      else resolve();
    });
  });
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It took longer than ${ms / 1_000} s.`)), ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
