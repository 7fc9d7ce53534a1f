import { processState } from '#server/kernel/process-state.ts';
import { sql } from './sql.ts';

const MINUTE = 60_000;
const MOST_REMEMBERED = 50_000;
const stamped = processState('stamped-credentials', () => new Map<string, number>());

/**
 * Stamps the last use of a key or client, and of the key behind it, each at most once a minute. Nobody waits for it: it is outside the request's own work, and
 * a lost stamp loses nothing. Never rejects.
 */
export async function stampUse(
  { tenant_id, sandbox }: { tenant_id: string; sandbox: boolean },
  used: readonly (string | null | undefined)[],
  ip: string | null,
  now: Date,
): Promise<void> {
  const due = (id: string | null | undefined) => typeof id === 'string' && now.getTime() - (stamped.get(id) ?? 0) >= MINUTE;
  const ids = used.filter(due) as string[];
  if (ids.length === 0) return;
  if (stamped.size > MOST_REMEMBERED) stamped.clear();
  for (const id of ids) stamped.set(id, now.getTime());
  await sql()
    .query({
      name: 'stamp-use',
      text: `insert into credential_usage (id, tenant_id, sandbox, last_used_at, last_used_ip) select id, $2, $3, $4, $5 from unnest($1::uuid[]) id
        on conflict (id) do update set last_used_at = excluded.last_used_at, last_used_ip = excluded.last_used_ip`,
      values: [ids, tenant_id, sandbox, now, ip],
    })
    .catch(() => {
      for (const id of ids) stamped.delete(id);
    });
}
