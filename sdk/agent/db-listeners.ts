import net, { type Server, type Socket } from 'node:net';
import { peerUid } from './peer-uid.ts';
import { type DbCredential, servePostgres } from './postgres-listener.ts';
import type { DbListener } from './protocol.ts';

export type DbListenersOptions = {
  /** The value of a secret of the bundle, opened for this use. Throws when it isn't there. */
  open(secretId: string): string;
  log(message: string): void;
};
export type ListenerState = { port: number; protocol: string; open: boolean };
export type DbListeners = {
  /** Opens what is new and closes what is gone, connections included. */
  apply(wanted: readonly DbListener[]): Promise<ListenerState[]>;
  close(): Promise<void>;
};

/** Local ports on which the agent authenticates connections to databases. They listen on 127.0.0.1 and nowhere else; no setting changes that. */
export function createDbListeners({ open, log }: DbListenersOptions): DbListeners {
  const running = new Map<string, { server: Server; sockets: Set<Socket> }>();

  async function start(listener: DbListener): Promise<boolean> {
    if (listener.engine !== 'postgres') {
      log(`port ${listener.port}: databases of kind ${listener.engine} have no listener yet, only postgres`);
      return false;
    }
    const sockets = new Set<Socket>();
    const server = net.createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      // Before a byte is read: an account that isn't listed learns nothing.
      const uid = peerUid(socket);
      if (listener.allowed_uids?.length && (uid === undefined || !listener.allowed_uids.includes(uid))) return void socket.destroy();
      void servePostgres(socket, listener.upstream, () => credentialIn(open(listener.credential_secret_id), listener.upstream.username));
    });
    const isOpen = await new Promise<boolean>((resolve) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        log(`port ${listener.port} can’t be opened: ${error.code ?? error.message}`);
        resolve(false);
      });
      server.listen(listener.port, '127.0.0.1', () => resolve(true));
    });
    if (isOpen) running.set(JSON.stringify(listener), { server, sockets });
    return isOpen;
  }

  async function stop(key: string): Promise<void> {
    const found = running.get(key);
    running.delete(key);
    if (!found) return;
    for (const socket of found.sockets) socket.destroy();
    await new Promise((resolve) => found.server.close(resolve));
  }

  return {
    async apply(wanted) {
      const keys = new Set(wanted.map((one) => JSON.stringify(one)));
      for (const key of [...running.keys()]) if (!keys.has(key)) await stop(key);
      const states: ListenerState[] = [];
      for (const one of wanted) {
        const isOpen = running.has(JSON.stringify(one)) || (await start(one));
        states.push({ port: one.port, protocol: one.engine, open: isOpen });
      }
      return states;
    },
    async close() {
      for (const key of [...running.keys()]) await stop(key);
    },
  };
}

/** A JSON object with `username` and `password`, a connection URL, or a password alone with a user name from the listener. */
export function credentialIn(value: string, username: string | null): DbCredential {
  const text = value.trim();
  if (text.startsWith('{')) {
    const found = JSON.parse(text) as Partial<Record<'username' | 'user' | 'password', unknown>>;
    const user = found.username ?? found.user ?? username;
    if (typeof user === 'string' && typeof found.password === 'string') return { username: user, password: found.password };
    throw new Error('the secret has no username and password');
  }
  if (/^[a-z][a-z0-9+]*:\/\//i.test(text)) {
    const url = new URL(text);
    const user = decodeURIComponent(url.username) || username;
    if (user && url.password) return { username: user, password: decodeURIComponent(url.password) };
    throw new Error('the secret is a URL without user and password');
  }
  if (username === null) throw new Error('the secret is a password alone, and the listener names no user');
  return { username, password: value };
}
