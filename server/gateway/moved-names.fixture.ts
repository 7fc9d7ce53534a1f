import { createResolver } from '#server/platform/http-out/resolver.ts';
import { createUpstreamPools } from '#server/platform/http-out/upstream-pool.ts';
import type { Running } from './gateway.fixture.ts';

/** Runs `work` with a gateway that resolves these names, and no others, as the record says at that moment. */
export async function withNames(
  { runtime }: Running,
  names: Readonly<Record<string, readonly string[]>>,
  work: () => Promise<void>,
): Promise<void> {
  const before = { resolver: runtime.resolver, pools: runtime.pools };
  const resolve = async (host: string, family: number) => (family === 6 ? [] : (names[host] ?? [])).map((address) => ({ address, ttl: 0 }));
  runtime.resolver = createResolver({ settings: before.resolver.settings, resolve });
  runtime.pools = createUpstreamPools({ resolver: runtime.resolver, connectTimeoutMs: 1_000 });
  try {
    await work();
  } finally {
    await runtime.pools.close();
    Object.assign(runtime, before);
  }
}
