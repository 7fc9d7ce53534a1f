import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { JWK } from 'jose';
import { type Environment, environmentSettings } from '../settings.ts';
import { CliError, EXIT } from './exit.ts';
import { withFileLock } from './file-lock.ts';

/** One way to be signed in. */
export type Profile = {
  /** Origin of the Management API of one space. */
  host: string;
  space: 'live' | 'test';
  /** Slug of the workspace. */
  tenant: string;
} & (ApiKeyLogin | OAuthLogin);

export type ApiKeyLogin = { kind: 'api_key'; api_key: string };
export type OAuthLogin = {
  kind: 'oauth';
  /** The workspace's own ID of this program, by which the login is renewed and ended. */
  client_id: string;
  access_token: string;
  /** ISO 8601. */
  expires_at: string;
  refresh_token: string;
  scope: string;
  /** The key that the tokens are bound to. */
  dpop_key?: JWK;
};

export type ProfileFile = { version: 1; current: string; profiles: Record<string, Profile> };

const EMPTY: ProfileFile = { version: 1, current: 'default', profiles: {} };
export const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** The credentials file: SERVICE_CREDENTIALS_FILE, else credentials.json in the folder of configuration files. */
export function credentialsFile(env: Environment): string {
  const { credentials_file, config_home } = environmentSettings(env);
  return credentials_file ?? path.join(config_home ?? path.join(env.HOME || os.homedir(), '.config'), 'sallyport', 'credentials.json');
}

/** All logins; none when there is no file. A file that others can read is closed to them first. @throws CliError */
export function readProfiles(file: string, warn: (text: string) => void = () => undefined): ProfileFile {
  let handle: number;
  try {
    handle = fs.openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return EMPTY;
    throw new CliError(`${file} can't be read: ${(error as Error).message}`, { code: EXIT.not_signed_in });
  }
  try {
    const { mode, uid } = fs.fstatSync(handle);
    const me = process.getuid?.();
    if (me !== undefined && uid !== me)
      throw new CliError(`${file} belongs to another account.`, { code: EXIT.not_signed_in, next_step: 'Remove it and sign in again.' });
    if (me !== undefined && (mode & 0o077) !== 0) {
      fs.fchmodSync(handle, 0o600);
      warn(`${file} was readable by others. Its mode is now 0600. If somebody may have read it, run: service-cli logout`);
    }
    return parsed(file, fs.readFileSync(handle, 'utf8'));
  } finally {
    fs.closeSync(handle);
  }
}

/** Changes the file while no other process does. It is replaced in one step, so that a crash leaves the old one or the new one. */
export async function changeProfiles<T>(file: string, change: (profiles: ProfileFile) => T | Promise<T>): Promise<T> {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  return withFileLock(`${file}.lock`, async () => {
    const profiles = structuredClone(readProfiles(file));
    const before = JSON.stringify(profiles);
    const result = await change(profiles);
    if (JSON.stringify(profiles) !== before) replace(file, `${JSON.stringify(profiles, null, 2)}\n`);
    return result;
  });
}

function replace(file: string, text: string): void {
  // New under a name that nobody can guess: in a folder of several people, what stands there already could be read by another.
  const draft = `${file}.${randomBytes(8).toString('hex')}.new`;
  const handle = fs.openSync(draft, 'wx', 0o600);
  try {
    fs.writeSync(handle, text);
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
  fs.renameSync(draft, file);
}

function parsed(file: string, text: string): ProfileFile {
  try {
    const value = JSON.parse(text) as ProfileFile;
    if (value.version === 1 && typeof value.profiles === 'object') return value;
  } catch {
    // told below, without the text: it holds credentials
  }
  throw new CliError(`${file} is damaged.`, { code: EXIT.not_signed_in, next_step: 'Remove it and sign in again.' });
}
