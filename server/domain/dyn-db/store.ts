import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { Engine } from './engines.shared.ts';
import type { CONNECTION_STATUSES, ConnectionOptions, ExecutionMode, LEASE_STATUSES } from './schema.ts';

/** Rows of the tables, in which constraints and the verbs keep the words to those of the schema. */
export type ConnectionRow = Omit<
  Prisma.dyn_db_connectionsGetPayload<object>,
  'engine' | 'execution_mode' | 'status' | 'connect_options'
> & {
  engine: Engine;
  execution_mode: ExecutionMode;
  status: (typeof CONNECTION_STATUSES)[number];
  connect_options: ConnectionOptions;
};
export type RoleRow = Prisma.dyn_db_rolesGetPayload<object>;
export type LeaseRow = Omit<
  Prisma.dyn_db_leasesGetPayload<object>,
  'engine' | 'execution_mode' | 'status' | 'phase' | 'ends_as' | 'target'
> & {
  engine: Engine;
  execution_mode: ExecutionMode;
  status: (typeof LEASE_STATUSES)[number];
  phase: 'none' | 'creating' | 'renewing' | 'revoking';
  ends_as: 'expired' | 'revoked' | 'failed';
  target: LeaseTarget;
};
/** What a revocation fills in, as it was when the user was made. */
export type LeaseTarget = { database?: string | null; user_host?: string };

/** By name, exactly as it is written, or by ID: no name looks like one. @throws Refusal not_found */
export async function connectionByName(tx: Tx, ctx: Ctx, ref: string): Promise<ConnectionRow> {
  const row = await tx.dyn_db_connections.findFirst({
    where: { ...own(ctx), deleted_at: null, ...(isUuid(ref) ? { id: ref.toLowerCase() } : { name: ref }) },
  });
  if (!row) throw notFound();
  return row as ConnectionRow;
}

/** The same, holding the row until the transaction ends. */
export async function lockedConnection(tx: Tx, ctx: Ctx, name: string, lock: 'change' | 'share' = 'change'): Promise<ConnectionRow> {
  const { id } = await connectionByName(tx, ctx, name);
  if (lock === 'share') await tx.$queryRaw`select 1 from dyn_db_connections where id = ${id}::uuid for share`;
  else await tx.$queryRaw`select 1 from dyn_db_connections where id = ${id}::uuid for update`;
  return connectionByName(tx, ctx, name);
}

export async function connectionById(tx: Tx, ctx: Ctx, id: string): Promise<ConnectionRow | null> {
  return (await tx.dyn_db_connections.findFirst({ where: { ...own(ctx), id } })) as ConnectionRow | null;
}

/** Likewise. @throws Refusal not_found */
export async function roleByName(tx: Tx, ctx: Ctx, connection_id: string, ref: string): Promise<RoleRow> {
  const row = await tx.dyn_db_roles.findFirst({
    where: { ...own(ctx), connection_id, ...(isUuid(ref) ? { id: ref.toLowerCase() } : { name: ref }) },
  });
  if (!row) throw notFound();
  return row;
}

const LEASE_NUMBER = /^[1-9][0-9]{0,8}$/;

/** By the number that callers know it by. @throws Refusal not_found */
export async function leaseByNumber(tx: Tx, ctx: Ctx, text: string): Promise<LeaseRow> {
  const row = LEASE_NUMBER.test(text) ? await tx.dyn_db_leases.findFirst({ where: { ...own(ctx), number: Number(text) } }) : null;
  if (!row) throw notFound();
  return row as unknown as LeaseRow;
}

/** The same, holding the row until the transaction ends. */
export async function lockedLease(tx: Tx, ctx: Ctx, text: string): Promise<LeaseRow> {
  const { id } = await leaseByNumber(tx, ctx, text);
  await tx.$queryRaw`select 1 from dyn_db_leases where id = ${id}::uuid for update`;
  return leaseByNumber(tx, ctx, text);
}

/** Leases whose user may exist. */
export const liveLeases = (tx: Tx, ctx: Ctx, where: { connection_id: string; role_id?: string }) =>
  tx.dyn_db_leases.count({ where: { ...own(ctx), ...where, ended_at: null } });

/** @throws Refusal in_use */
export async function assertNoLiveLeases(tx: Tx, ctx: Ctx, where: { connection_id: string; role_id?: string }): Promise<void> {
  const live = await liveLeases(tx, ctx, where);
  if (live > 0)
    throw new Refusal('in_use', `${where.role_id ? 'role' : 'connection'} has ${live} active credential lease${live === 1 ? '' : 's'}`);
}
