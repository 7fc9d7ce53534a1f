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
      const reason = { EADDRINUSE: 'is already used by another program', EACCES: "requires permissions this user doesn't have" }[
        error.code ?? ''
      ];
      resolve(`Port ${port} on ${address} ${reason ?? `can't be opened (${error.code})`}. Free it, or choose another one with ${setting}.`);
    });
    server.listen(port, address, () => server.close(() => resolve(undefined)));
  });
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

/** Ports nobody listens on now. Held together until all are known, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = net.createServer();
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as net.AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
