import type { Pool, PoolClient } from 'pg';
import type { Space } from '#server/kernel/context.ts';
import { withPooledClient } from '#server/platform/pooled-client.ts';
import { type Fingerprint, readFingerprints, sliceChanged, tenantChanged } from './fingerprints.ts';
import { type AnySlice, SLICES } from './slices.ts';
import { readTenants, type TenantRow } from './tenant.ts';

export const SPACES = ['live', 'test'] as const satisfies readonly Space[];

/** What has changed of one workspace since the fingerprint that its load began with. */
export type Changes = {
  fingerprint: Fingerprint;
  /** Undefined: as it was. */
  tenant: TenantRow | undefined;
  /** Lists of rows of the slices that changed, by space. */
  spaces: Readonly<Record<Space, { slices: AnySlice[]; rows: Record<string, object[]> }>>;
};

/**
 * What has changed of the given workspaces since their fingerprints. Everything is read as of one instant, fingerprints included, so a transaction
 * that touched several slices is seen whole or not at all, however its announcements arrive. Deleted workspaces are absent from the answer.
 */
export function loadChanges(pool: Pool, since: ReadonlyMap<string, Fingerprint | undefined>): Promise<Map<string, Changes>> {
  return withPooledClient(pool, async (client) => {
    await client.query('begin isolation level repeatable read read only');
    const changes = await readChanges(client, since);
    await client.query('commit');
    return changes;
  });
}

async function readChanges(client: PoolClient, since: ReadonlyMap<string, Fingerprint | undefined>): Promise<Map<string, Changes>> {
  const now = await readFingerprints(client, [...since.keys()]);
  const stale = [...now].filter(([id, fingerprint]) => tenantChanged(since.get(id), fingerprint)).map(([id]) => id);
  const tenants = stale.length === 0 ? [] : await readTenants(client, stale);
  const byId = new Map(tenants.map((tenant) => [tenant.id, tenant]));
  const changes = new Map<string, Changes>();
  for (const [id, fingerprint] of now)
    changes.set(id, { fingerprint, tenant: byId.get(id), spaces: { live: { slices: [], rows: {} }, test: { slices: [], rows: {} } } });
  for (const slice of SLICES) await readSlice(client, slice, since, changes);
  return changes;
}

async function readSlice(
  client: PoolClient,
  slice: AnySlice,
  since: ReadonlyMap<string, Fingerprint | undefined>,
  changes: ReadonlyMap<string, Changes>,
): Promise<void> {
  const lists = Object.keys(slice.queries);
  const ids = new Set<string>();
  const spaces = new Set<Space>();
  for (const [id, { fingerprint, spaces: bySpace }] of changes) {
    for (const space of SPACES) {
      if (!sliceChanged(slice, space, since.get(id), fingerprint)) continue;
      ids.add(id);
      spaces.add(space);
      bySpace[space].slices.push(slice);
      for (const list of lists) bySpace[space].rows[list] = [];
    }
  }
  if (ids.size === 0) return;
  const values = [[...ids], [...spaces].map((space) => space === 'test')];
  for (const list of lists) {
    const { rows } = await client.query<Scoped>({ name: `snapshot-${slice.name}-${list}`, text: slice.queries[list] ?? '', values });
    for (const { tenant_id, sandbox, ...row } of rows) changes.get(tenant_id)?.spaces[sandbox ? 'test' : 'live'].rows[list]?.push(row);
  }
}

type Scoped = { tenant_id: string; sandbox: boolean };
