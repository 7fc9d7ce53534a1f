import dgram from 'node:dgram';
import net from 'node:net';
import type { Env } from '../server/platform/env.ts';

export type PublicPort = { port: number; setting: string };

/** The TCP ports that the gateway of this environment will open, each with the setting that moves it. */
export function publicPorts(env: Pick<Env, 'PLANE_PORTS' | 'PORT'>): PublicPort[] {
  const all = Object.entries(env.PLANE_PORTS);
  // The variable is the whole list: a plane that it doesn't name has no port.
  const moved = (plane: string) => all.map(([name, port]) => `${name}:${name === plane ? port + 100 : port}`).join(',');
  const planes = all.map(([plane, port]) => ({ port, setting: `PLANE_PORTS, such as PLANE_PORTS=${moved(plane)}` }));
  return planes.length > 0 ? planes : [{ port: env.PORT, setting: 'PORT' }];
}

/** One sentence when the address cannot be listened on; undefined when it is free. */
export function whyNotFree({ port, setting }: PublicPort, address: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRNOTAVAIL' || error.code === 'EINVAL')
        return resolve(`BIND_ADDRESS ${address} is not an address of this machine. Set it to one that is, or to 0.0.0.0 for all.`);
      const reason = { EADDRINUSE: 'is already used by another program', EACCES: "requires permissions this user doesn't have" }[
        error.code ?? ''
      ];
      resolve(`Port ${port} on ${address} ${reason ?? `can't be opened (${error.code})`}. Free it, or choose another one with ${setting}.`);
    });
    server.listen(port, address, () => server.close(() => resolve(undefined)));
  });
}

/** The same of all of them. An address that isn't of this machine is one sentence, however many ports there are. */
export async function whyNotAllFree(ports: readonly PublicPort[], address: string): Promise<string[]> {
  const reasons = await Promise.all(ports.map((port) => whyNotFree(port, address)));
  return [...new Set(reasons.filter((reason) => reason !== undefined))];
}

/** Where to knock at what listens on an address: at this machine's own when it is that of every network. */
export const hostBehind = (address: string): string => (address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address);

/** Whether something accepts connections there now. */
export function accepts(target: net.NetConnectOpts): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(target);
    socket.setTimeout(1000, () => socket.destroy());
    socket.on('connect', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(false));
  });
}

// Below what Linux and macOS give to connections and to servers that ask for any port, so that none of those takes a port between its choice and its use.
const FIRST = 20_000;
const LAST = 32_000;

/**
 * Ports in a row on loopback that nobody listens on, for a server that must know its port before it starts. They are this process's until it ends: no other
 * caller of this function is given them.
 */
export async function freePorts(count: number): Promise<number[]> {
  for (let tries = 0; tries < 1000; tries++) {
    const first = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    const ports = Array.from({ length: count }, (_, place) => first + place);
    const claims = await Promise.all(ports.map(claim));
    if (claims.every((one) => one !== undefined)) return ports;
    for (const one of claims) one?.close();
  }
  throw new Error(`There are no ${count} free ports in a row from ${FIRST} to ${LAST}`);
}

/** One of them. */
export async function freePort(): Promise<number> {
  const [port] = (await freePorts(1)) as [number];
  return port;
}

/** Claims a port by keeping the UDP port of its number, which ends with this process however that ends. Undefined when it is claimed or listened on. */
async function claim(port: number): Promise<dgram.Socket | undefined> {
  const socket = dgram.createSocket('udp4').unref();
  const bound = await new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(false));
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
  if (bound && (await whyNotFree({ port, setting: '' }, '127.0.0.1')) === undefined) return socket;
  socket.close();
  return undefined;
}
