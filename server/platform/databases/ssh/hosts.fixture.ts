import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import ssh2 from 'ssh2';
import { freePort } from '#scripts/ports.ts';
import { until } from '#server/testing/until.ts';
import type { SshTarget } from './ssh-target.ts';

/** The driver's generator drops leading zeros of Ed25519 keys, once in 300: such a key is no key. */
export function newKey(options: { cipher: 'aes256-ctr'; passphrase: string; rounds: number } | undefined = undefined) {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', options as never);
    if (!(ssh2.utils.parseKey(pair.public) instanceof Error) && !(ssh2.utils.parseKey(pair.private, options?.passphrase) instanceof Error))
      return pair;
  }
}

export const clientKey = newKey();

export type JumpHost = { target: SshTarget; fingerprint: string; forwarded: { host: string; port: number }[] };

/**
 * A jump host of the driver's own server part, in this process. `targets` are names it reaches, with their ports here. Closed after the file; what starts it
 * inside of a test says when.
 */
export async function jumpHost(
  targets: Readonly<Record<string, { host: string; port: number }>>,
  { hostKey = newKey(), atEnd = after }: { hostKey?: ReturnType<typeof newKey>; atEnd?: (close: () => Promise<void>) => void } = {},
): Promise<JumpHost> {
  const allowed = ssh2.utils.parseKey(clientKey.public);
  if (allowed instanceof Error) throw allowed;
  const forwarded: JumpHost['forwarded'] = [];
  const clients = new Set<{ end(): unknown }>();
  const server = new ssh2.Server({ hostKeys: [hostKey.private] }, (client) => {
    clients.add(client);
    client.on('error', () => undefined);
    client.on('authentication', (asked) => {
      const known = asked.method === 'publickey' && asked.username === 'jump' && asked.key.data.equals(allowed.getPublicSSH());
      if (!known || asked.method !== 'publickey') return asked.reject(['publickey']);
      if (asked.signature && asked.blob && allowed.verify(asked.blob, asked.signature, asked.hashAlgo) !== true) return asked.reject();
      asked.accept();
    });
    client.on('tcpip', (accept, reject, { destIP, destPort }) => {
      forwarded.push({ host: destIP, port: destPort });
      const place = targets[destIP];
      if (!place) return reject();
      const socket = connect(place.port, place.host);
      socket.once('error', () => reject());
      socket.once('connect', () => {
        const channel = accept();
        socket.removeAllListeners('error');
        socket.on('error', () => channel.destroy());
        channel.on('error', () => socket.destroy());
        channel.on('close', () => socket.destroy());
        socket.on('close', () => channel.destroy());
        channel.pipe(socket).pipe(channel);
      });
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  atEnd(async () => {
    for (const client of clients) client.end();
    server.close();
  });
  return { target: targetOf(port), fingerprint: fingerprintOf(hostKey.public), forwarded };
}

const targetOf = (port: number, username = 'jump'): SshTarget => ({
  host: 'jump.example.com',
  port,
  username,
  privateKey: clientKey.private,
  fingerprint: null,
});

/** As ssh-keygen -l shows it. */
export function fingerprintOf(publicKey: string): string {
  const blob = Buffer.from(publicKey.split(' ')[1] ?? '', 'base64');
  const made = spawnSync('openssl', ['dgst', '-sha256', '-binary'], { input: blob });
  return `SHA256:${made.stdout.toString('base64').replace(/=+$/, '')}`;
}

const sshd = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find((file) => fs.existsSync(file));
export const noSshd: string | false = sshd === undefined ? 'needs OpenSSH: install openssh-server' : false;

/** The SSH server of the distribution on 127.0.0.1, as this account, which may log in with the client key and forward anywhere. */
export async function openSshd(): Promise<JumpHost & { stop(): void }> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-sshd-'));
  const hostKey = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
  const file = (name: string, text: string) => {
    fs.writeFileSync(path.join(directory, name), text, { mode: 0o600 });
    return path.join(directory, name);
  };
  const port = await freePort();
  const config = file(
    'config',
    [
      ...[`ListenAddress 127.0.0.1`, `Port ${port}`, `HostKey ${file('host', hostKey.private)}`, `PidFile ${path.join(directory, 'pid')}`],
      ...[`AuthorizedKeysFile ${file('authorized', `${clientKey.public}\n`)}`, 'StrictModes no', 'UsePAM no', 'PasswordAuthentication no'],
      ...['KbdInteractiveAuthentication no', 'PermitRootLogin prohibit-password', 'AllowTcpForwarding yes'],
    ].join('\n'),
  );
  if (process.getuid?.() === 0) fs.mkdirSync('/run/sshd', { recursive: true });
  const log = path.join(directory, 'log');
  const child: ChildProcess = spawn(sshd as string, ['-D', '-f', config, '-E', log], { stdio: 'ignore' });
  const stop = () => void child.kill('SIGKILL');
  after(() => {
    stop();
    fs.rmSync(directory, { recursive: true, force: true });
  });
  await until(() => child.exitCode !== null || fs.existsSync(path.join(directory, 'pid')));
  if (child.exitCode !== null) throw new Error(`sshd did not start: ${fs.existsSync(log) ? fs.readFileSync(log, 'utf8') : ''}`);
  return { target: targetOf(port, os.userInfo().username), fingerprint: fingerprintOf(hostKey.public), forwarded: [], stop };
}
