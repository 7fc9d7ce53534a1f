import { hash, type KeyObject, randomUUID } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { randomBuffer } from './random.ts';
import { secretKey } from './secret-key.ts';

/** The deployment's root key. `id` is the first 8 hex digits of SHA-256(key), stored as root_key_id beside what it wrapped. */
export type RootKey = { id: string; key: KeyObject };

/** The key that wraps, and the one before it while a root rotation is running. */
export type RootKeys = { current: RootKey; previous?: RootKey };

/** A setting or file of the operator is not usable; the message says what to do and never holds key material. */
export class RootKeyRefused extends Error {
  override readonly name = 'RootKeyRefused';
}

export type RootKeySource = { masterKeyB64?: string | undefined; previousB64?: string | undefined; file: string; production?: boolean };

/** Id of the key of the published vectors (bytes 00..1f), which everybody knows. */
const publishedKeyId = '630dcd29';

/**
 * The root keys of this deployment: MASTER_KEY_B64 when given, else the key file, created with 32 random bytes and mode
 * 0600 at the first start. Throws RootKeyRefused; a process must not start without its key.
 */
export function loadRootKeys({ masterKeyB64, previousB64, file, production = false }: RootKeySource): RootKeys {
  const current = masterKeyB64 ? parseRootKey(masterKeyB64, 'MASTER_KEY_B64') : rootKeyOfFile(file);
  if (production && current.id === publishedKeyId)
    throw new RootKeyRefused('the root key is the published test key, which is not allowed in production');
  if (!previousB64) return { current };
  const previous = parseRootKey(previousB64, 'MASTER_KEY_PREVIOUS_B64');
  if (previous.id === current.id) throw new RootKeyRefused('MASTER_KEY_PREVIOUS_B64 must differ from the current key');
  return { current, previous };
}

/** Standard base64 of exactly 32 bytes in its one canonical spelling; `name` is what the message calls the setting. */
export function parseRootKey(base64: string, name: string): RootKey {
  const bytes = Buffer.from(base64, 'base64');
  // Buffer ignores stray characters and missing padding; a key cut by a shell must not become another key.
  if (bytes.length !== 32 || bytes.toString('base64') !== base64) {
    throw new RootKeyRefused(`${name} must be exactly 32 bytes in base64. Generate one with: openssl rand -base64 32`);
  }
  return { id: hash('sha256', bytes, 'hex').slice(0, 8), key: secretKey(bytes) };
}

function rootKeyOfFile(file: string): RootKey {
  return readKeyFile(file) ?? createKeyFile(file);
}

function readKeyFile(file: string): RootKey | undefined {
  try {
    return readOpened(file, openSync(file, 'r'));
  } catch (error) {
    if (error instanceof RootKeyRefused) throw error;
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new RootKeyRefused(`the key file ${file} cannot be read (${codeOf(error)})`);
  }
}

/** The mode is asked of the opened file, not of the name, which could be pointed elsewhere in between. */
function readOpened(file: string, descriptor: number): RootKey {
  try {
    const { mode } = fstatSync(descriptor);
    if ((mode & 0o077) !== 0) {
      throw new RootKeyRefused(
        `the key file ${file} is readable by other users (mode ${(mode & 0o777).toString(8)}). Run: chmod 600 ${file}`,
      );
    }
    return parseRootKey(readFileSync(descriptor, 'latin1').trimEnd(), `the key file ${file}`);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The key is complete on disk under another name before link() gives it its own, and link() fails when the name is taken:
 * of several processes starting at once one wins, and all of them read the winner's key.
 */
function createKeyFile(file: string): RootKey {
  const draft = `${file}.${randomUUID()}`;
  try {
    const descriptor = openSync(draft, 'wx', 0o600);
    try {
      const bytes = randomBuffer(32);
      writeSync(descriptor, `${bytes.toString('base64')}\n`);
      bytes.fill(0);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    try {
      linkSync(draft, file);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    } finally {
      unlinkSync(draft);
    }
    syncFolder(dirname(file));
  } catch (error) {
    throw new RootKeyRefused(`the key file ${file} cannot be created (${codeOf(error)}). Set MASTER_KEY_B64 or MASTER_KEY_FILE`);
  }
  const key = readKeyFile(file);
  if (!key) throw new RootKeyRefused(`the key file ${file} disappeared during startup`);
  return key;
}

/** Without it a power cut after the first value was sealed could lose the name of the key file. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
