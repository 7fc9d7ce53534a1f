import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { isLinkHost, lookupOffLink } from './link-addresses.ts';
import { Multiplexer } from './multiplexer.ts';

// The tunnel of an agent: a connection to the service through which databases of this network are reached. Nothing listens; the agent dials out.

export type TunnelOptions = {
  apiBase: string;
  agentId: string;
  /** Of the current session; undefined while there is none. */
  token(): string | undefined;
  /** Whether the service may have a connection to this host opened; all hosts without it. */
  allows?: ((host: string, port: number) => boolean) | undefined;
  log?: ((message: string) => void) | undefined;
};
export type Tunnel = { readonly connected: boolean; close(): void };

const CONNECT_MS = 10_000;
/** Between attempts to connect, doubled after each that failed. */
export const FIRST_PAUSE_MS = 1_000;
export const LONGEST_PAUSE_MS = 60_000;

/** Keeps one tunnel open until it is closed. A connection that was lost, or whose session ended, is opened again, later and later while that fails. */
export function startTunnel(options: TunnelOptions): Tunnel {
  let [closed, connected] = [false, false];
  let current: Multiplexer | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pause = FIRST_PAUSE_MS;

  async function keep(): Promise<void> {
    const token = options.token();
    try {
      if (token === undefined) throw new Error('there is no session');
      current = await open(options, token);
      if (closed) return current.close();
      connected = true;
      pause = FIRST_PAUSE_MS;
      await current.ended;
    } catch (error) {
      options.log?.(`The tunnel is not open: ${error instanceof Error ? error.message : String(error)}`);
    }
    connected = false;
    if (closed) return;
    timer = setTimeout(() => void keep(), pause * (0.5 + Math.random() / 2));
    timer.unref();
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }

  void keep();
  return {
    get connected() {
      return connected;
    },
    close() {
      closed = true;
      clearTimeout(timer);
      current?.close();
    },
  };
}

function open({ apiBase, agentId, allows }: TunnelOptions, token: string): Promise<Multiplexer> {
  const url = new URL('/agent/v1/tunnel', apiBase);
  const headers = { connection: 'Upgrade', upgrade: 'sallyport-tunnel/1', 'x-svc-agent-id': agentId, 'x-svc-agent-token': token };
  return new Promise((resolve, reject) => {
    const asked = (url.protocol === 'https:' ? https : http).request(url, { headers, agent: false, timeout: CONNECT_MS });
    asked.on('upgrade', (_, socket, head) => {
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(new Multiplexer(socket, (target) => dial(target, allows)));
    });
    asked.on('response', (response) => {
      response.resume();
      reject(new Error(`the service answered ${response.statusCode}`));
    });
    asked.on('timeout', () => asked.destroy(new Error('the service did not answer')));
    asked.on('error', reject);
    asked.end();
  });
}

const SAID: Readonly<Record<string, string>> = { timeout: 'timeout', ENOTFOUND: 'unknown_host', ELINK: 'not_allowed' };

/** A connection to a host of this network. A refusal says one word, which is all that leaves the host. */
function dial({ host, port }: { host: string; port: number }, allows: TunnelOptions['allows']): Promise<net.Socket> {
  if (isLinkHost(host) || (allows && !allows(host, port))) return Promise.reject(new Error('not_allowed'));
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port, timeout: CONNECT_MS, noDelay: true, lookup: lookupOffLink });
    socket.once('connect', () => {
      socket.setTimeout(0);
      resolve(socket);
    });
    socket.once('timeout', () => socket.destroy(new Error('timeout')));
    socket.once('error', (error: NodeJS.ErrnoException) => reject(new Error(SAID[error.code ?? error.message] ?? 'unreachable')));
  });
}
