import fs from 'node:fs';
import type { Socket } from 'node:net';

/**
 * The account of the local program at the other end of a loopback connection, as Linux' table of sockets has it. Undefined where that can't be told, which
 * counts as nobody.
 */
export function peerUid(socket: Socket): number | undefined {
  const { remotePort, localPort } = socket;
  if (process.platform !== 'linux' || remotePort === undefined || localPort === undefined) return undefined;
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const found = uidIn(read(file), remotePort, localPort);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The peer's row is the one whose local end is our remote one. */
export function uidIn(table: string, theirPort: number, ourPort: number): number | undefined {
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', remote = '', , , , , uid = ''] = line.trim().split(/\s+/);
    if (portAt(local) === theirPort && portAt(remote) === ourPort && uid !== '') return Number(uid);
  }
  return undefined;
}

const portAt = (end: string) => Number.parseInt(end.split(':')[1] ?? '', 16);

function read(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
