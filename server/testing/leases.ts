import { sweepLeases } from '#server/domain/leases/service.ts';
import { leaseHandlers } from '#server/jobs/leases.ts';
import { db } from '#server/platform/db.ts';
import { assertOwnDatabase } from './database.ts';

/** Handles the leases of one kind that are due at `now`. @returns how many something was done about */
export async function sweepKind(
  kind: 'api_key' | 'secret' | 'signup_claim' | 'tenant_domain' | 'dyn_db_lease',
  now: Date,
  batch?: number,
): Promise<number> {
  assertOwnDatabase();
  const handler = { ...leaseHandlers('tick'), ...leaseHandlers('hour'), ...leaseHandlers('apart') }[kind];
  if (!handler) throw new Error(`no handler for leases of ${kind}`);
  const acted = await sweepLeases({ [kind]: handler }, { db: db(), now, ...(batch === undefined ? {} : { batch }) });
  return acted[kind] ?? 0;
}
