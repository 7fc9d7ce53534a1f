import { readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { log } from '#server/platform/log.ts';
import { privateFolder } from '#server/platform/private-folder.ts';
import { isAbandoned } from '../../core/log/journal.ts';
import { type JournalFile, makeJournalFile } from '../../core/log/journal-file.ts';
import { thisProcess } from '../../core/log/journal-owner.ts';

/** Finished calls on the disk before they are answered, so that a process that is killed loses none: neither their rows nor what they cost. */
export type CallJournal<T extends object> = {
  /** Never throws: a call is answered although the disk takes nothing. */
  add(call: T): void;
  /** The next calls go to another file, so that one that is written to the database can be removed. */
  turn(): void;
  /** The database has them, or never will. */
  drop(calls: readonly T[]): void;
  /** Hands over what processes left that ended, file by file, and forgets each file that `write` took all of. */
  drain(write: (calls: T[]) => Promise<boolean>): Promise<void>;
};

const FORMAT = 'sallyport-ai-calls 1\n';
const HEAD = Buffer.from(FORMAT);
const RETRY_MS = 1_000;

type Followed = { file: JournalFile; left: number };

/** A file is lines of JSON: what is written to the database, by which it knows calls that it has. */
export function createCallJournal<T extends object>(folder: string): CallJournal<T> {
  privateFolder('DATA_DIR', folder);
  const files = new WeakMap<T, Followed>();
  let open: Followed | undefined;
  let serial = 0;
  let failedAt = 0;

  const failed = (error: unknown) => {
    if (failedAt === 0)
      log.error({ err: error }, "the journal of AI calls can't be written: a gateway that is killed now loses calls of its last moments");
    failedAt = Date.now();
  };
  const forgetIfDone = (one: Followed) => {
    if (one !== open && one.left === 0) one.file.remove();
  };

  return {
    add(call) {
      if (failedAt > Date.now() - RETRY_MS) return;
      try {
        open ??= { file: makeJournalFile(path.join(folder, `${thisProcess}-${serial++}.log`), HEAD), left: 0 };
        open.file.append(Buffer.from(`${JSON.stringify(call)}\n`));
      } catch (error) {
        failed(error);
        return;
      }
      if (failedAt !== 0) log.info('the journal of AI calls is written again');
      failedAt = 0;
      open.left++;
      files.set(call, open);
    },
    turn() {
      const last = open;
      open = undefined;
      if (!last) return;
      // It gets nothing more, and while the database is away there is one for each second that had a call.
      last.file.close();
      forgetIfDone(last);
    },
    drop(calls) {
      for (const call of calls) {
        const its = files.get(call);
        if (!its || !files.delete(call)) continue;
        its.left--;
        forgetIfDone(its);
      }
    },
    async drain(write) {
      for (const name of readdirSync(folder).sort()) {
        const file = path.join(folder, name);
        if (!isAbandoned(file, name)) continue;
        const text = await textOf(file);
        if (text === undefined) continue;
        const left = linesOf<T>(text, file);
        if (!(await write(left))) return;
        rmSync(file, { force: true });
        if (left.length > 0) log.info({ calls: left.length }, 'AI calls were read from the journal');
      }
    },
  };
}

/** Undefined for a file that another process took, and for one that can't be read now or by this release: what is in it was acknowledged, so it stays. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    const text = await readFile(file, 'utf8');
    // A process that was killed before the head was whole had written no call.
    if (!text.startsWith(FORMAT) && !FORMAT.startsWith(text)) throw new Error('It is not a journal that this release can read.');
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.error({ err: error, file }, "a file in the journal of AI calls can't be read, and is left alone");
    return undefined;
  }
}

/** A last line without its end was cut off by a crash, before its call was answered. */
function linesOf<T>(text: string, file: string): T[] {
  const [, ...lines] = text.split('\n');
  lines.pop();
  return lines.flatMap((line) => {
    try {
      return JSON.parse(line) as T;
    } catch (error) {
      log.error({ err: error, file }, 'a line in the journal of AI calls is damaged');
      return [];
    }
  });
}
