import { type Dispatcher, Pool } from 'undici';
import { createConnect, type Endpoint } from './connector.ts';
import { UpstreamFault } from './faults.ts';
import type { Resolver } from './resolver.ts';

/** What separates pools: nothing is ever shared between tenants, spaces, origins or TLS identities (interface rule 12 §10). */
export type PoolKey = Endpoint & {
  tenant: string;
  space: string;
  /** Names the TLS material with its version, e.g. `cert-id:3/ca-id:1`; '' for system roots and no client certificate. */
  identity?: string | undefined;
};

export type UpstreamPools = {
  /** The pool of a key, opened on first use. Call `dispatch` on the answer at once: an unused pool is closed after 30 s. */
  get(key: PoolKey): Dispatcher;
  readonly size: number;
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

const MAX_RESPONSE_HEADER_BYTES = 64 * 1024;

/**
 * Upstream connections for the data planes. Handlers get undici's dispatch callbacks; errors go through classifyFault. Times for
 * headers and between chunks are per dispatch (`headersTimeout`, `bodyTimeout`, milliseconds); the defaults here are a safety net.
 * A response whose framing is wrong destroys its socket, so it cannot spill into the next call.
 */
export function createUpstreamPools({
  resolver,
  connections = 100,
  idleMs = 30_000,
  maxAgeMs = 60_000,
  connectTimeoutMs = 5_000,
}: PoolOptions): UpstreamPools {
  const pools = new Map<string, { pool: Pool; usedAt: number }>();
  let closed = false;

  const sweeper = setInterval(
    () => {
      const limit = performance.now() - idleMs;
      for (const [name, entry] of pools) {
        const { running, pending, queued } = entry.pool.stats;
        if (entry.usedAt > limit || running + pending + queued > 0) continue;
        pools.delete(name);
        entry.pool.close().catch(() => undefined); // nothing runs on it: only its idle sockets are let go
      }
    },
    Math.min(idleMs, 10_000),
  );
  sweeper.unref();

  function open(key: PoolKey): Pool {
    const connect = createConnect(key, resolver, connectTimeoutMs);
    return new Pool(originOf(key), {
      connections,
      pipelining: 1,
      clientTtl: maxAgeMs,
      allowH2: false,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
      headersTimeout: 300_000,
      bodyTimeout: 300_000,
      connect: (_, callback) => {
        connect().then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        );
      },
    });
  }

  return {
    get(key) {
      if (closed) throw new UpstreamFault('aborted', 'The service is shutting down.', { phase: 'connect' });
      const name = `${key.tenant} ${key.space} ${key.scheme} ${key.host} ${key.port} ${key.identity ?? ''}`;
      let entry = pools.get(name);
      if (!entry) {
        entry = { pool: open(key), usedAt: 0 };
        pools.set(name, entry);
      }
      entry.usedAt = performance.now();
      return entry.pool;
    },
    get size() {
      return pools.size;
    },
    async close() {
      closed = true;
      clearInterval(sweeper);
      await Promise.all([...pools.values()].map(({ pool }) => pool.close()));
      pools.clear();
    },
  };
}

function originOf({ scheme, host, port }: Endpoint): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
