import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Mode } from './protocol.ts';

// The agent's folder: what its files are called and how they are written. All but the certificates, which other programs read, are for its own account only.

/** What enrolling brought; `credentials.json`. */
export type Credentials = { agent_id: string; agent_secret: string; control_plane_key: string; api_base: string; mode: Mode };

const NAMES = {
  credentials: 'credentials.json',
  salt: 'salt',
  bundle: 'bundle.json',
  authority: 'ca.pem',
  authorityKey: 'ca-key.pem',
  trust: 'ca-bundle.pem',
  program: 'agent.mjs',
  signature: 'agent.mjs.sig',
} as const;
export type FileName = keyof typeof NAMES;
const PUBLIC: ReadonlySet<FileName> = new Set<FileName>(['authority', 'trust']);

export type Home = {
  folder: string;
  path(name: FileName): string;
  read(name: FileName): string | undefined;
  /** Replaces the file at once: a reader sees the old or the new one whole. */
  write(name: FileName, content: string | Uint8Array): void;
  remove(name: FileName): void;
};

export function openHome(folder: string): Home {
  fs.mkdirSync(folder, { recursive: true, mode: 0o711 });
  const at = (name: FileName) => path.join(folder, NAMES[name]);
  return {
    folder,
    path: at,
    read(name) {
      try {
        return fs.readFileSync(at(name), 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    write(name, content) {
      const beside = `${at(name)}.${process.pid}`;
      fs.rmSync(beside, { force: true });
      const mode = PUBLIC.has(name) ? 0o644 : 0o600;
      fs.writeFileSync(beside, content, { mode, flag: 'wx' });
      fs.chmodSync(beside, mode);
      fs.renameSync(beside, at(name));
    },
    remove: (name) => fs.rmSync(at(name), { force: true }),
  };
}

/** The credentials, refused while others on this host could read them. */
export function readCredentials(home: Home): Credentials | undefined {
  const text = home.read('credentials');
  if (text === undefined) return undefined;
  const { mode } = fs.statSync(home.path('credentials'));
  if (os.platform() !== 'win32' && (mode & 0o077) !== 0)
    throw new Error(`${home.path('credentials')} can be read by other accounts. Run: chmod 600 ${home.path('credentials')}`);
  return JSON.parse(text) as Credentials;
}
