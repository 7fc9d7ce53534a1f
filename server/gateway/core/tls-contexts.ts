import type { TlsMaterial } from '#server/platform/http-out/connector.ts';
import type { UpstreamPools } from '#server/platform/http-out/upstream-pool.ts';

export type TlsContexts = {
  /** What connections of this identity are made with, if it was put together already. */
  get(tenantId: string, identity: string): TlsMaterial | undefined;
  /** `place` names the secrets, whose values `identity` names: connections of an earlier identity of the same place are closed. */
  set(tenantId: string, place: string, identity: string, tls: TlsMaterial): void;
  /** Drops everything of a workspace at once (its key was rotated, revoked or sealed). */
  forget(tenantId: string): void;
  wipe(): void;
};

type Held = { tenantId: string; tls: TlsMaterial; until: number };

/** A private key lives as long as the connections made with it, and five minutes beyond the last call that looked for it anew. */
const LIFETIME_MS = 300_000;
const MOST = 2_000;

/** Certificates that calls present to upstreams, opened once per value and not once per call. */
export function tlsContexts(pools: Pick<UpstreamPools, 'retire'>): TlsContexts {
  const held = new Map<string, Held>();
  const current = new Map<string, string>();
  const drop = (identity: string) => {
    held.delete(identity);
    pools.retire(identity);
  };
  return {
    get(tenantId, identity) {
      const known = held.get(identity);
      if (known === undefined || known.tenantId !== tenantId) return undefined;
      if (known.until > performance.now()) return known.tls;
      held.delete(identity);
      return undefined;
    },
    set(tenantId, place, identity, tls) {
      const before = current.get(place);
      if (before !== undefined && before !== identity) drop(before);
      const [oldest] = held.keys();
      if (held.size >= MOST && oldest !== undefined) held.delete(oldest);
      if (current.size >= MOST) current.clear();
      current.set(place, identity);
      held.set(identity, { tenantId, tls, until: performance.now() + LIFETIME_MS });
    },
    forget(tenantId) {
      for (const [identity, entry] of held) if (entry.tenantId === tenantId) drop(identity);
    },
    wipe() {
      held.clear();
      current.clear();
    },
  };
}
