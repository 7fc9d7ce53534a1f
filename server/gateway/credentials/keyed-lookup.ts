import { digest, digestEquals } from '#server/crypto/tokens.ts';
import { lru } from './lru.ts';

/** A stored credential: SHA-256 of its text, and the workspace whose announcements drop it from the cache. */
export type KeyedRow = { digest: Uint8Array; tenant_id: string };

export type KeyedLookupOptions<Row extends KeyedRow> = {
  /** Reads the row of a presented text from the database; undefined when there is none. Rejects when the database is away. */
  load(text: string, digest: Buffer): Promise<Row | undefined>;
  /** Most rows kept. */
  max: number;
  /** How long a row is trusted without asking again: the bound on a revocation whose announcement was lost. */
  ttl_ms: number;
  /** How long an unknown text is remembered as unknown. Unknown texts are kept apart, as many as `max`, so they can't evict rows. */
  negative_ttl_ms: number;
  /** Most concurrent loads of texts not seen before. Rows that have merely expired always load. */
  max_loads?: number | undefined;
  /**
   * How long a row that is too old is trusted while the database is away, by the last time it was read. Absent: not at all. What an announcement has
   * dropped isn't known any more.
   */
  stale_ms?: number | undefined;
  now?: (() => number) | undefined;
};

export type KeyedLookup<Row> = {
  /**
   * The row of a presented credential; null when there is none; `busy` when too many unknown texts are being looked up.
   * Rejects when the database is away: nothing about a credential is decided without it, except by rows younger than `ttl_ms`, or `stale_ms`.
   */
  find(text: string): Row | null | Promise<Row | null | Busy>;
  /** Drops the rows of a workspace. A load under way answers its callers, but isn't kept or joined. */
  forget(tenantId: string): void;
  /** Drops one row, by SHA-256 of its text. */
  forgetOne(digest: Buffer): void;
  forgetAll(): void;
  readonly size: number;
};
export type Busy = 'busy';

type Entry<Row> = { row: Row; digest: Buffer; readAt: number; until: number };

/**
 * Credentials that are too numerous for the snapshot: looked up by digest, kept for a short time, and dropped when a change of theirs is announced.
 * The cache holds no plaintext. Calls that need the same row at the same time share one load.
 */
export function keyedLookup<Row extends KeyedRow>(options: KeyedLookupOptions<Row>): KeyedLookup<Row> {
  const { load, max, ttl_ms, negative_ttl_ms, max_loads = 8, stale_ms = 0, now = () => performance.now() } = options;
  const byTenant = new Map<string, Set<string>>();
  const known = lru<Entry<Row>>(max, (key, { row }) => unlist(row.tenant_id, key));
  const unknown = lru<number>(max);
  const loads = new Map<string, Promise<Row | null>>();
  let guesses = 0;

  function unlist(tenantId: string, key: string): void {
    const keys = byTenant.get(tenantId);
    keys?.delete(key);
    if (keys?.size === 0) byTenant.delete(tenantId);
  }

  function drop(key: string): void {
    const entry = known.get(key);
    if (!entry) return;
    known.delete(key);
    unlist(entry.row.tenant_id, key);
  }

  function keep(key: string, of: Buffer, row: Row): void {
    const keys = byTenant.get(row.tenant_id) ?? new Set();
    byTenant.set(row.tenant_id, keys.add(key));
    known.set(key, { row, digest: of, readAt: now(), until: now() + ttl_ms });
  }

  function read(key: string, text: string, of: Buffer, isGuess: boolean): Promise<Row | null> {
    if (isGuess) guesses++;
    const running: Promise<Row | null> = load(text, of)
      .then((row) => {
        const found = row !== undefined && digestEquals(row.digest, of) ? row : null;
        // A change was announced meanwhile: this may be the row from before it.
        if (loads.get(key) !== running) return found;
        drop(key);
        if (found) keep(key, of, found);
        else unknown.set(key, now() + negative_ttl_ms);
        return found;
      })
      .catch((error: unknown) => {
        const entry = known.get(key);
        if (!entry || loads.get(key) !== running || now() - entry.readAt > stale_ms) throw error;
        // Asked again after this time: a database that doesn't answer must not hold up every call.
        entry.until = now() + ttl_ms;
        return entry.row;
      })
      .finally(() => {
        if (isGuess) guesses--;
        if (loads.get(key) === running) loads.delete(key);
      });
    loads.set(key, running);
    return running;
  }

  return {
    find(text) {
      const of = digest(text);
      const key = of.toString('latin1');
      const entry = known.get(key);
      if (entry && entry.until > now()) return digestEquals(entry.digest, of) ? entry.row : null;
      if (!entry && (unknown.get(key) ?? 0) > now()) return null;
      const running = loads.get(key);
      if (running !== undefined) return running;
      if (!entry && guesses >= max_loads) return Promise.resolve('busy');
      return read(key, text, of, !entry);
    },
    forget(tenantId) {
      for (const key of byTenant.get(tenantId) ?? []) known.delete(key);
      byTenant.delete(tenantId);
      // Which workspace a load belongs to isn't known before it ends, and an unknown text may have become a credential.
      loads.clear();
      unknown.clear();
    },
    forgetOne(of) {
      const key = of.toString('latin1');
      drop(key);
      loads.delete(key);
      unknown.delete(key);
    },
    forgetAll() {
      known.clear();
      byTenant.clear();
      loads.clear();
      unknown.clear();
    },
    get size() {
      return known.size;
    },
  };
}
