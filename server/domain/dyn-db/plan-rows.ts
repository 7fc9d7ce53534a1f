import type { Ctx } from '#server/kernel/context.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { openAll } from './seals.ts';
import type { Access } from './sessions.ts';
import type { ConnectionRow, LeaseRow, RoleRow } from './store.ts';

// What a mint reads and writes beside its lease, in one round trip each: it is called often, and the database of the customer is slow enough.

type Found = {
  connection: ConnectionRow;
  role: RoleRow;
  passwords: { id: string; value_ct: string; cek_wrapped: string; tmk_version: number }[] | null;
};

/** By name, like what needs no plan; undefined when there is none, or when more than a password opens it. Times of these rows are texts. */
export async function directPlanRows(
  ctx: Ctx,
  connection: string,
  role: string,
): Promise<{ connection: ConnectionRow; role: RoleRow; access: Access } | undefined> {
  const [found] = await ownRows<Found>(ctx, PLAN, connection, role);
  if (!found) return undefined;
  const rows = (found.passwords ?? []).map((row) => ({
    ...row,
    value_ct: Buffer.from(row.value_ct, 'base64'),
    cek_wrapped: Buffer.from(row.cek_wrapped, 'base64'),
  }));
  const access = { row: found.connection, passwords: await openAll(ctx, rows), ssh_key: null, external_id: null };
  return { connection: found.connection, role: found.role, access };
}

const PLAN = ownQuery(
  'dyn-db-plan',
  `select to_jsonb(c) as connection, to_jsonb(r) as role, (select jsonb_agg(jsonb_build_object('id', p.id, 'tmk_version', p.tmk_version,
      'value_ct', encode(p.value_ct, 'base64'), 'cek_wrapped', encode(p.cek_wrapped, 'base64')) order by p.state)
    from dyn_db_passwords p where p.connection_id = c.id and p.tenant_id = $1 and p.sandbox = $2) as passwords
  from dyn_db_connections c join dyn_db_roles r on r.connection_id = c.id and r.tenant_id = $1 and r.sandbox = $2
  where c.tenant_id = $1 and c.sandbox = $2 and c.deleted_at is null and c.execution_mode = 'direct' and c.name = $3 and r.name = $4`,
);

/** Transaction B of a mint. @returns false when the lease was taken over meanwhile */
export const activate = (ctx: Ctx, { id, claimed_by }: LeaseRow): Promise<boolean> =>
  inOwnTransaction(ctx, async (client) => {
    const { rowCount } = await client.query({
      name: 'dyn-db-activate',
      text: ACTIVATE,
      values: [ctx.tenant_id, ctx.sandbox, id, claimed_by],
    });
    return rowCount === 1;
  });

const ACTIVATE = `update dyn_db_leases set status = 'active', phase = 'none', ends_as = 'expired', claimed_by = null, claimed_until = null
  where tenant_id = $1 and sandbox = $2 and id = $3 and phase = 'creating' and claimed_by = $4`;
