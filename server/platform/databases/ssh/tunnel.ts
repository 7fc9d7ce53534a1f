import type { Duplex } from 'node:stream';
import ssh2, { type Client, type ClientChannel } from 'ssh2';
import { SshKeyRefused, sshPrivateKey } from '#server/crypto/ssh-private-key.ts';
import { BoundedStream } from '../bounded-stream.ts';
import { countdown, within } from '../deadline.ts';
import { DatabaseFault, otherHostKey } from '../fault.ts';
import { FINGERPRINT, type SshTarget } from './ssh-target.ts';

export type Tunnel = {
  /** The key that the jump host showed and proved to have. */
  hostKey: string;
  /** A connection that the jump host opens from its place. @throws DatabaseFault */
  forward(host: string, port: number, timeoutMs: number): Promise<Duplex>;
  close(): void;
};

/** Of one session altogether; databases are bounded for themselves. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Logs in at a jump host over an open socket. A pinned host key must be the one that is shown; without a pin the key is reported and the caller
 * decides (trust on first use). Nothing is offered but the key: no password, no agent. @throws DatabaseFault
 */
export async function openTunnel(socket: Duplex, ssh: SshTarget, timeoutMs: number): Promise<Tunnel> {
  const stream = new BoundedStream(socket, MOST_BYTES);
  const client = new ssh2.Client();
  try {
    const hostKey = await login(client, stream, ssh, timeoutMs);
    // What happens to it later is told by the channels, which end.
    return { hostKey, forward: (host, port, patience) => forward(client, host, port, patience), close: () => stream.destroy() };
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

async function login(client: Client, stream: BoundedStream, ssh: SshTarget, timeoutMs: number): Promise<string> {
  const left = countdown(timeoutMs);
  const key = privateKey(ssh);
  let shown: string | undefined;
  const ready = new Promise<void>((resolve, reject) => {
    client.on('error', reject);
    client.on('ready', resolve);
    client.on('close', () => reject(new Error('closed')));
  });
  const late = () => new DatabaseFault('database_timeout', 'ssh', 'The SSH host did not answer in time.');
  client.connect({
    sock: stream as never,
    username: ssh.username,
    authHandler: [{ type: 'publickey', username: ssh.username, key } as never],
    agentForward: false,
    tryKeyboard: false,
    readyTimeout: 0,
    keepaliveInterval: 0,
    // SHA-1 has no place in who a host is.
    algorithms: { serverHostKey: { remove: ['ssh-rsa', 'ssh-dss'], append: [], prepend: [] } },
    hostHash: 'sha256',
    hostVerifier: (digest: string) => {
      shown = `SHA256:${Buffer.from(digest, 'hex')
        .toString('base64')
        .replace(/={1,2}$/, '')}`;
      return ssh.fingerprint === null || ssh.fingerprint === shown;
    },
  });
  try {
    await within(left(), ready, late);
  } catch (error) {
    if (shown !== undefined && ssh.fingerprint !== null && shown !== ssh.fingerprint) throw otherHostKey(shown);
    throw faultOf(error);
  }
  if (shown === undefined || !FINGERPRINT.test(shown))
    throw new DatabaseFault('database_unreachable', 'ssh', 'The SSH host showed no key.');
  return shown;
}

function privateKey({ privateKey: text, passphrase }: SshTarget) {
  try {
    return sshPrivateKey(text, passphrase).key;
  } catch (error) {
    if (error instanceof SshKeyRefused) throw new DatabaseFault('database_unreachable', 'ssh', error.message);
    throw error;
  }
}

function faultOf(error: unknown): DatabaseFault {
  if (error instanceof DatabaseFault) return error;
  const { level } = error as { level?: unknown };
  const text =
    level === 'client-authentication'
      ? 'The SSH host did not accept the private key.'
      : level === 'handshake' || level === 'protocol'
        ? 'The SSH handshake failed.'
        : 'The SSH connection was lost.';
  return new DatabaseFault('database_unreachable', 'ssh', text);
}

async function forward(client: Client, host: string, port: number, timeoutMs: number): Promise<Duplex> {
  const opening = new Promise<ClientChannel>((resolve, reject) => {
    client.once('close', () => reject(new Error('closed')));
    client.forwardOut('127.0.0.1', 0, host, port, (error, channel) => (error ? reject(error) : resolve(channel)));
  });
  const late = () => new DatabaseFault('database_unreachable', 'tcp', 'The SSH host did not reach the database in time.');
  try {
    return await within(timeoutMs, opening, late);
  } catch (error) {
    if (error instanceof DatabaseFault) throw error;
    throw new DatabaseFault('database_unreachable', 'tcp', 'The SSH host could not reach the database.');
  }
}
