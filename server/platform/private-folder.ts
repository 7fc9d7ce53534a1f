import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { EnvError } from './env.ts';

// A folder that somebody else made first, where everybody may make folders, lets them read what we put there and put there what we read.

/**
 * Makes a folder that only this account may use, or takes over and narrows an existing one of this account. For folders that are ours alone.
 * @throws EnvError when it is a link, no folder, or of another account; `setting` says where it is
 */
export function privateFolder(setting: FolderSetting, folder: string): void {
  usableFolder(setting, folder);
  const found = lstatSync(folder);
  if (!found.isDirectory() || !isOurs(found.uid)) throw refused(setting, folder);
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/** The same for a folder the operator may share with other services, such as /run: root may own it, and its mode stays. @throws EnvError */
export function ownedFolder(setting: FolderSetting, folder: string): void {
  usableFolder(setting, folder);
  const found = statSync(folder);
  if (found.uid !== 0 && !isOurs(found.uid)) throw refused(setting, folder);
}

export type FolderSetting = 'DATA_DIR' | 'WEB_SOCKET' | 'LOG_SPILL_DIR';

/** Makes a folder, and those above it, unless it is there, and tries whether it can be written to. @throws EnvError */
export function usableFolder(setting: FolderSetting, folder: string, mode = 0o700): void {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !existsSync(at); at = path.dirname(at)) missing.unshift(at);
  try {
    // One after another: Node's `recursive` never returns below /proc.
    for (const one of missing) makeFolder(one, mode);
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const reason = Object.hasOwn(REASONS, code) ? REASONS[code as keyof typeof REASONS] : message;
    throw new EnvError([`${setting} can't be used: ${folder} ${reason}. Set ${setting} to a place that this user may write to`]);
  }
}

const REASONS = {
  EACCES: "can't be written to",
  EPERM: "can't be written to",
  EROFS: 'is on a read-only file system',
  ENOENT: "can't be made there",
  ENOSPC: "can't be made: the disk is full",
  ENOTDIR: 'is not a folder',
};

function makeFolder(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process made it first
  }
}

const isOurs = (uid: number): boolean => process.getuid === undefined || uid === process.getuid();
const refused = (setting: FolderSetting, folder: string) =>
  new EnvError([`${setting} can't be used: ${folder} belongs to another user or is not a folder. Remove it or choose another one`]);
