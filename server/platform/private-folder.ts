import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs';

// A folder that somebody else made first, where everybody may make folders, lets them read what we put there and put there what we read.

/**
 * Makes a folder that only this account may use, or takes over and narrows an existing one of this account. For folders that are ours alone.
 * @throws Error when it is a link, no folder, or of another account
 */
export function privateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || !isOurs(found.uid)) throw refused(folder);
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/** The same for a folder the operator may share with other services, such as /run: root may own it, and its mode stays. @throws Error */
export function ownedFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = statSync(folder);
  if (found.uid !== 0 && !isOurs(found.uid)) throw refused(folder);
}

const isOurs = (uid: number): boolean => process.getuid === undefined || uid === process.getuid();
const refused = (folder: string) => new Error(`${folder} belongs to another user or is not a folder. Remove it or choose another one`);
