import { processState } from '#server/kernel/process-state.ts';
import { sql } from '#server/platform/sql.ts';
import type { OAuthClient } from './client.ts';

/** Stamps the last use of a client, and of the key that it mirrors, at most once a minute and outside the request's own work. A lost stamp loses nothing. */
export function stampClient(
  client: Pick<OAuthClient, 'id' | 'tenant_id' | 'sandbox' | 'source_api_key_id'>,
  ip: string | null,
  now: Date,
): void {
  if (now.getTime() - (stamped.get(client.id) ?? 0) < 60_000) return;
  if (stamped.size > 50_000) stamped.clear();
  stamped.set(client.id, now.getTime());
  void sql()
    .query({
      name: 'stamp-client',
      text: `insert into credential_usage (id, tenant_id, sandbox, last_used_at, last_used_ip) select id, $2, $3, $4, $5 from unnest($1::uuid[]) id
        on conflict (id) do update set last_used_at = excluded.last_used_at, last_used_ip = excluded.last_used_ip`,
      values: [[client.id, client.source_api_key_id].filter((id) => id !== null), client.tenant_id, client.sandbox, now, ip],
    })
    .catch(() => stamped.delete(client.id));
}
const stamped = processState('stamped-clients', () => new Map<string, number>());
