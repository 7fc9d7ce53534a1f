import { close, closeSync, fdatasync, openSync, unlink, writeSync } from 'node:fs';
import { journalHead } from './journal-lines.ts';

/** One file of the journal, open for lines. */
export type JournalFile = {
  readonly path: string;
  /** When lines were last appended, in epoch milliseconds. */
  readonly at: number;
  /** Takes all of the lines, or throws; then the next ones are written over what was taken. */
  append(lines: Buffer): void;
  /** Resolves when everything appended so far outlives the machine. */
  sync(): Promise<void>;
  /** Takes no more lines. */
  close(): void;
  remove(): void;
};

/** Makes a file that only this account can read, which begins with `head`. @throws when the disk doesn't take it */
export function makeJournalFile(path: string, head: Buffer = journalHead): JournalFile {
  const fd = openSync(path, 'wx', 0o600);
  let size = 0;
  let at = Date.now();
  let syncs = 0;
  let closing = false;

  const write = (bytes: Buffer) => {
    let done = 0;
    while (done < bytes.length) {
      const taken = writeSync(fd, bytes, done, bytes.length - done, size + done);
      if (taken === 0) throw new Error('The disk took nothing.');
      done += taken;
    }
    size += done;
  };
  /** The number of a closed file may be another file's by the time a sync is done with it. */
  const closeWhenIdle = () => {
    if (closing && syncs === 0) close(fd, () => {});
  };
  const end = () => {
    if (closing) return;
    closing = true;
    closeWhenIdle();
  };

  try {
    write(head);
  } catch (error) {
    closeSync(fd);
    unlink(path, () => {});
    throw error;
  }
  return {
    path,
    get at() {
      return at;
    },
    append(lines) {
      write(lines);
      at = Date.now();
    },
    sync() {
      if (closing) return Promise.resolve(); // its lines are in the database, or nobody waits for them
      syncs++;
      return new Promise((resolve, reject) => {
        fdatasync(fd, (error) => {
          syncs--;
          closeWhenIdle();
          if (error) reject(error);
          else resolve();
        });
      });
    },
    close: end,
    remove() {
      end();
      unlink(path, () => {});
    },
  };
}
