import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import type { Home } from './home.ts';
import { sha256 } from './keys.ts';

/**
 * 64 hex characters that stay the same on this machine: over its ID, its first network address, its name and a random salt beside the credentials. Where a
 * file names the machine (`SVC_AGENT_ID_FILE`), over that file and the salt.
 */
export function machineFingerprint(home: Home, idFile: string | undefined): string {
  const salt = home.read('salt') ?? newSalt(home);
  if (idFile !== undefined) return sha256(['file', fs.readFileSync(idFile, 'utf8').trim(), salt].join('\n'));
  return sha256(['machine', machineId(), firstMac(), os.hostname(), salt].join('\n'));
}

function newSalt(home: Home): string {
  const salt = randomBytes(32).toString('hex');
  home.write('salt', salt);
  return salt;
}

function machineId(): string {
  for (const file of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    try {
      return fs.readFileSync(file, 'utf8').trim();
    } catch {
      // Other systems have none; the salt still tells two machines apart.
    }
  }
  return '';
}

function firstMac(): string {
  const found = Object.entries(os.networkInterfaces())
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, addresses]) => addresses ?? [])
    .find(({ internal, mac }) => !internal && mac !== '00:00:00:00:00:00');
  return found?.mac ?? '';
}

export const hostFacts = () => ({ hostname: os.hostname(), os: process.platform, arch: process.arch });
