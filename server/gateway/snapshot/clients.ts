import { compileRangeTable } from '#server/kernel/address.ts';
import type { ClientMatch } from './model.ts';
import { defineSlice, epochMs } from './slice.ts';

/** One usable address range of an enabled client, in the order of precedence among equals. */
type ClientRangeRow = { client_id: string; name: string; credential_id: string; ip_range: string; expires_at: number | null };

/** Addresses whose matches are remembered; a scan over many addresses must not fill memory. */
const MAX_REMEMBERED = 10_000;
const NOBODY: readonly ClientMatch[] = [];

export const clients = defineSlice({
  name: 'clients',
  tables: ['clients', 'client_credentials'],
  queries: {
    client_ranges: `select c.tenant_id, c.sandbox, c.id as client_id, c.name, k.id as credential_id, k.ip_range, ${epochMs('k.expires_at')} as expires_at
    from client_credentials k join clients c on c.id = k.client_id
    where k.tenant_id = any($1) and k.sandbox = any($2) and k.kind = 'ip' and k.enabled and c.enabled and k.ip_range is not null
    order by k.created_at, k.id`,
  },
  compile({ client_ranges: ranges }: { client_ranges: ClientRangeRow[] }) {
    const find = compileRangeTable(ranges.map((row) => ({ range: row.ip_range, value: clientMatch(row) })));
    const remembered = new Map<string, readonly ClientMatch[]>();
    return {
      /** Address credentials that hold this address, best first. */
      clientsAt(ip: string): readonly ClientMatch[] {
        if (ranges.length === 0) return NOBODY;
        let found = remembered.get(ip);
        if (!found) {
          found = find(ip);
          if (remembered.size < MAX_REMEMBERED) remembered.set(ip, found);
        }
        return found;
      },
    };
  },
  size: (rows) => rows.client_ranges.length,
});

function clientMatch(row: ClientRangeRow): ClientMatch {
  return { client: { id: row.client_id, name: row.name }, credentialId: row.credential_id, endsAt: row.expires_at ?? Infinity };
}
