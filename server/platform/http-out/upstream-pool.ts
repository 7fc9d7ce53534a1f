import { createConnect, type Endpoint } from './connector.ts';
import { UpstreamFault } from './faults.ts';
import { Http2Pool } from './http2-pool.ts';
import { type ConnectionCounts, OriginPool } from './origin-pool.ts';
import type { Resolver } from './resolver.ts';

/** What separates pools: nothing is ever shared between tenants, spaces, origins or TLS identities (interface rule 12 §10). */
export type PoolKey = Endpoint & {
  tenant: string;
  space: string;
  /** Names the TLS material with its version, e.g. `cert-id:3/ca-id:1`; '' for system roots and no client certificate. */
  identity?: string | undefined;
  /** Connections of HTTP/2, which they must offer; of HTTP/1.1 without it. */
  http2?: boolean | undefined;
};

/** What a pool of either protocol is to those who send by it, and to those who keep it. */
export type Pool = Pick<OriginPool, 'send' | 'sweep' | 'close' | 'usedAt' | 'idleOnly' | 'countInto'>;

export type UpstreamPools = {
  /** The pool of a key, opened on first use. Call `send` on the answer at once: an unused pool is closed after 30 s. */
  get(key: PoolKey): Pool;
  readonly size: number;
  /** Of all pools together: connections in use, idle and being opened, and calls that wait for one. */
  connections(): ConnectionCounts;
  /** Closes the connections of a TLS identity that was replaced; running calls finish. */
  retire(identity: string): void;
  /** Lets running calls finish, refuses new ones. */
  close(): Promise<void>;
};

export type PoolOptions = {
  resolver: Resolver;
  /** Sockets per key. */
  connections?: number | undefined;
  idleMs?: number | undefined;
  /** A socket older than this serves no new call, so that DNS and guard settings are asked again. */
  maxAgeMs?: number | undefined;
  connectTimeoutMs?: number | undefined;
};

/** Of one origin; each carries up to a hundred calls. */
const HTTP2_CONNECTIONS = 10;

/** Upstream connections for the data planes. They know no timeout but that of connecting: who sends a call owns its time. */
export function createUpstreamPools({
  resolver,
  connections = 100,
  idleMs = 30_000,
  maxAgeMs = 60_000,
  connectTimeoutMs = 5_000,
}: PoolOptions): UpstreamPools {
  const pools = new Map<string, Pool>();
  /** Neighbours mostly go to the same origin. */
  let last: { key: PoolKey; pool: Pool } | undefined;
  let closed = false;

  const sweeper = setInterval(
    () => {
      const now = performance.now();
      for (const [name, pool] of pools) {
        pool.sweep(now);
        if (pool.usedAt > now - idleMs || !pool.idleOnly) continue;
        pools.delete(name);
        last = undefined;
        void pool.close(); // nothing runs on it: only its idle sockets are let go
      }
    },
    Math.min(idleMs, 10_000),
  );
  sweeper.unref();

  return {
    get(key) {
      if (closed) throw new UpstreamFault('aborted', 'The service is shutting down.', { phase: 'connect' });
      if (last && isSame(last.key, key)) return last.pool;
      const name = `${key.http2 ? 'h2 ' : ''}${key.tenant} ${key.space} ${key.scheme} ${key.host} ${key.port} ${key.identity ?? ''}`;
      let pool = pools.get(name);
      if (!pool) {
        // A replaced certificate must not live on in idle sockets for more than half a minute, sweeps included.
        const idle = key.identity === undefined ? idleMs : Math.min(idleMs, 20_000);
        const connect = createConnect(key, resolver, connectTimeoutMs, key.http2 ? 'h2' : 'http/1.1');
        const options = { connect, host: key.host, idleMs: idle, maxAgeMs };
        pool = key.http2
          ? new Http2Pool({ ...options, scheme: key.scheme, connections: HTTP2_CONNECTIONS })
          : new OriginPool({ ...options, connections });
        pools.set(name, pool);
      }
      last = { key, pool };
      return pool;
    },
    retire(identity) {
      for (const [name, pool] of pools) {
        if (!name.endsWith(` ${identity}`)) continue;
        pools.delete(name);
        last = undefined;
        void pool.close();
      }
    },
    connections() {
      const all: ConnectionCounts = { used: 0, idle: 0, opening: 0, waiting: 0 };
      for (const pool of pools.values()) pool.countInto(all);
      return all;
    },
    get size() {
      return pools.size;
    },
    async close() {
      closed = true;
      clearInterval(sweeper);
      await Promise.all([...pools.values()].map((pool) => pool.close()));
      pools.clear();
      last = undefined;
    },
  };
}

const isSame = (a: PoolKey, b: PoolKey): boolean =>
  a.tenant === b.tenant &&
  a.space === b.space &&
  a.scheme === b.scheme &&
  a.host === b.host &&
  a.port === b.port &&
  a.identity === b.identity &&
  a.http2 === b.http2;
