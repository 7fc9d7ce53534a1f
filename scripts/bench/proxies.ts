import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../ports.ts';
import { get } from './http.ts';
import { drive, type Load, type LoadResult } from './load.ts';
import { cores, cpuSeconds } from './machine.ts';
import { startNextPeer } from './next-peer.ts';
import { type Nginx, SECURE_HOST, startPeer, startTunedPeer, startUpstream } from './nginx.ts';
import { say } from './report.ts';
import { install } from './service.ts';
import { makeWorkspace, type Wrapped } from './workspace.ts';

/** One of the proxies compared: where to call it and whose CPU time is its. */
export type Contender = {
  name: 'sallyport' | 'nginx' | 'tuned nginx' | 'next';
  url: string;
  headers: Record<string, string>;
  pids: () => number[];
};
export type Bench = {
  directory: string;
  upstream: string;
  /** A token of the workspace, for `fields.ts`. */
  token: string;
  /** The same key in a route and in escrow, for `wrap.ts`. */
  wrapped: Wrapped;
  proxies: Map<Contender['name'], Contender>;
  databasePids: () => number[];
  gatewayPid: number;
  /** Another gateway of ours over the same database, with settings of its own. */
  startAnother: (settings: Record<string, string>) => Promise<Contender>;
  stop: () => Promise<void>;
};

export type Peer = Exclude<Contender['name'], 'sallyport'>;
const starts: Record<Peer, (directory: string, where: string, upstreamPort: number) => Promise<Nginx>> = {
  nginx: startPeer,
  'tuned nginx': startTunedPeer,
  next: startNextPeer,
};

/** Upstream, our gateway and the peers, all answering. Only one of them is given load at a time, so they share the measured core. */
export async function startProxies(directory: string, peers: readonly Peer[]): Promise<Bench> {
  const origin = await startUpstream(directory, cores.others);
  // The ephemeral proxy calls public names over TLS alone.
  Object.assign(process.env, {
    SVC_TEST_MODE: '1',
    SVC_EGRESS_TEST_HOSTS: `${SECURE_HOST}:443=127.0.0.1:${origin.securePort}`,
    NODE_EXTRA_CA_CERTS: origin.root,
    WRAP_TOKEN_RPS: '100000',
  });
  const installation = await install(directory);
  const { token, wrapped, ...callable } = await makeWorkspace(installation, 'bench', origin.port);
  const gateway = await installation.startGateway();
  const gatewayPid = gateway.pid ?? 0;
  const proxies: Contender[] = [{ name: 'sallyport', ...callable, pids: () => [gatewayPid] }];
  const stops = [installation.stop, origin.stop];
  for (const name of peers) {
    if (name === 'next') say('building the Next.js proxy');
    const peer = await starts[name](directory, cores.measured, origin.port);
    stops.unshift(peer.stop);
    // The key is sent to all, so that all have the same request to read.
    const headers = { 'X-Svc-Key': callable.headers['X-Svc-Key'] ?? '' };
    proxies.push({ name, url: `http://127.0.0.1:${peer.port}`, headers, pids: peer.pids });
  }
  for (const { name, url, headers } of proxies) {
    const { status, body } = await get(`${url}/small`, headers);
    if (status !== 200) throw new Error(`${name} doesn't proxy: ${status} ${body.slice(0, 300)}`);
  }
  return {
    directory,
    upstream: `http://127.0.0.1:${origin.port}`,
    token,
    wrapped,
    proxies: new Map(proxies.map((proxy) => [proxy.name, proxy])),
    databasePids: installation.databasePids,
    gatewayPid,
    startAnother: async (settings) => {
      const [port] = (await freePorts(1)) as [number];
      const place = { PLANE_PORTS: `proxy:${port}`, WEB_SOCKET: path.join(directory, `another-${port}`, 'web.sock') };
      const { pid = 0 } = await installation.startGateway({ ...place, ...settings }, port);
      const here = (text: string) => text.replace(`:${installation.ports.proxy}`, `:${port}`);
      const headers = Object.fromEntries(Object.entries(callable.headers).map(([name, value]) => [name, here(value)]));
      return { name: 'sallyport', url: here(callable.url), headers, pids: () => [pid] };
    },
    stop: async () => {
      for (const stop of stops) await stop();
    },
  };
}

export type Measured = LoadResult & { /** Microseconds of CPU a call. */ cpu: number };

/** CPU time of the proxy over a load, with half a second after it: what is done later is part of the price. */
export async function measure(
  proxy: Pick<Contender, 'url' | 'headers' | 'pids'>,
  path: string,
  load: Shape,
  directory: string,
): Promise<Measured> {
  const pids = proxy.pids();
  const before = cpuSeconds(pids);
  const result = await drive({ ...load, url: proxy.url + path, headers: proxy.headers }, directory);
  await sleep(500);
  return { ...result, cpu: ((cpuSeconds(pids) - before) / result.requests) * 1e6 };
}

export type Shape = Omit<Load, 'url' | 'headers'>;
