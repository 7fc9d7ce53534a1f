import type { Pool } from 'pg';
import { log } from '#server/platform/log.ts';

export type ShareGuard = {
  /** Whether a share that the snapshot takes for active is: at once when it was confirmed in the last 5 s. Rejects when the database is unavailable. */
  stands(shareId: string): true | Promise<boolean>;
  /** Counts one injection of a shared secret. */
  used(shareId: string, host: string): void;
  /** Writes what was counted. Never rejects. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

const CONFIRMED_MS = 5_000;
const FLUSH_MS = 2_000;
/** Hosts of one share and day that are counted apart; further ones are counted together as `*`. */
const HOSTS = 200;

/**
 * Shares are revoked by announcement, like every change. This is the second look that a lost announcement, or a database that is away, can't take from the owner
 * (interface rule 30 §14.5, rule 9).
 */
export function shareGuard(pool: Pool): ShareGuard {
  const confirmed = new Map<string, number>();
  const asking = new Map<string, Promise<boolean>>();
  let uses = new Map<string, { share: string; day: string; host: string; calls: number; last: Date }>();
  let writing: Promise<void> = Promise.resolve();

  const ask = async (shareId: string): Promise<boolean> => {
    const asked = performance.now();
    const { rowCount } = await pool.query({ name: 'share-stands', text: STANDS, values: [shareId] });
    if (confirmed.size > 10_000) confirmed.clear();
    if (rowCount === 0) confirmed.delete(shareId);
    else confirmed.set(shareId, asked + CONFIRMED_MS);
    return rowCount !== 0;
  };

  const write = async (): Promise<void> => {
    const rows = [...uses.values()];
    if (rows.length === 0) return;
    uses = new Map();
    const column = (pick: (row: (typeof rows)[number]) => unknown) => rows.map(pick);
    const values = [column((r) => r.share), column((r) => r.day), column((r) => r.host), column((r) => r.calls), column((r) => r.last)];
    await pool
      .query(COUNT, values)
      .catch((error: unknown) => log.warn({ err: error, rows: rows.length }, 'uses of shared secrets were not counted'));
  };
  const flush = () => {
    writing = writing.then(write);
    return writing;
  };
  const timer = setInterval(() => void flush(), FLUSH_MS);
  timer.unref();

  return {
    stands(shareId) {
      if ((confirmed.get(shareId) ?? 0) > performance.now()) return true;
      const current = asking.get(shareId) ?? ask(shareId).finally(() => asking.delete(shareId));
      asking.set(shareId, current);
      return current;
    },
    used(share, host) {
      const last = new Date();
      const day = last.toISOString().slice(0, 10);
      const key = `${share} ${day} ${host}`;
      const entry = uses.get(key);
      if (entry) {
        entry.calls++;
        entry.last = last;
      } else uses.set(key, { share, day, host, calls: 1, last });
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

const STANDS = `select 1 from secret_shares s join tenants t on t.id = s.tenant_id and t.deleted_at is null
  where s.id = $1 and s.status = 'active' and (s.expires_at is null or s.expires_at > now())`;

const COUNT = `insert into secret_share_days as d (share_id, day, host, tenant_id, sandbox, calls, last_at)
  select share, day, case when known or taken < ${HOSTS} then host else '*' end, tenant_id, sandbox, sum(calls), max(last)
  from (select u.*, s.tenant_id, s.sandbox, exists (select from secret_share_days x where x.share_id = u.share and x.day = u.day and x.host = u.host) as known,
      (select count(*) from secret_share_days x where x.share_id = u.share and x.day = u.day) + row_number() over (partition by u.share, u.day) - 1 as taken
    from unnest($1::uuid[], $2::date[], $3::text[], $4::bigint[], $5::timestamptz[]) as u (share, day, host, calls, last) join secret_shares s on s.id = u.share) c
  group by 1, 2, 3, 4, 5
  on conflict (share_id, day, host) do update set calls = d.calls + excluded.calls, last_at = greatest(d.last_at, excluded.last_at)`;
