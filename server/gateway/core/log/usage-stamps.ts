import type { Pool } from 'pg';
import type { Call } from '../call.ts';

export type UsageStamps = {
  /** Notes that a key and a client were used; writes nothing. */
  note(call: Call): void;
  flush(): Promise<void>;
};

type Stamp = { tenantId: string; sandbox: boolean; at: number; ip: string };
const MINUTE = 60_000;
const MAX_REMEMBERED = 50_000;
const NONE: readonly string[] = [];

/** "Last used" of keys and client credentials, at most once a minute each (interface rules 11 §3.1, 20 §1.3). */
export function usageStamps(pool: Pool): UsageStamps {
  const written = new Map<string, number>();
  let pending = new Map<string, Stamp>();

  const note = (id: string, call: Call) => {
    if (call.receivedAt - (written.get(id) ?? 0) < MINUTE) return;
    if (written.size >= MAX_REMEMBERED) written.clear();
    written.set(id, call.receivedAt);
    pending.set(id, { tenantId: call.snapshot.tenant.id, sandbox: call.snapshot.sandbox, at: call.receivedAt, ip: call.sourceAddress });
  };

  return {
    note(call) {
      for (const id of call.credential.caller?.used ?? NONE) note(id, call);
      if (call.client) note(call.client.credentialId, call);
    },
    async flush() {
      if (pending.size === 0) return;
      const batch = [...pending].sort(([a], [b]) => (a < b ? -1 : 1));
      pending = new Map();
      try {
        await pool.query({
          name: 'usage-stamps',
          text: `insert into credential_usage (id, tenant_id, sandbox, last_used_at, last_used_ip)
            select * from unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::timestamptz[], $5::text[])
            on conflict (id) do update set last_used_at = greatest(credential_usage.last_used_at, excluded.last_used_at), last_used_ip = excluded.last_used_ip`,
          values: [
            batch.map(([id]) => id),
            batch.map(([, s]) => s.tenantId),
            batch.map(([, s]) => s.sandbox),
            batch.map(([, s]) => new Date(s.at)),
            batch.map(([, s]) => s.ip),
          ],
        });
      } catch (error) {
        for (const [id, stamp] of batch) if (!pending.has(id)) pending.set(id, stamp);
        throw error;
      }
    },
  };
}
