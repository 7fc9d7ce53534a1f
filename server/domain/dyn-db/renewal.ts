import { dispatch } from '#server/domain/mail/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate, unchanged, writeAudits } from '#server/kernel/mutate.ts';
import { CLAIM_MS, entryOf, renewalFailed, UNCLAIMED } from './lease-states.ts';
import { sentenceOf } from './refusals.ts';
import { assertFree } from './revocation.ts';
import { type Access, accessOf, withDatabase } from './sessions.ts';
import { connectionById, type LeaseRow, lockedLease } from './store.ts';
import { effectiveTtl } from './ttl.shared.ts';
import { whenFree } from './waiting.ts';

type Input = { id: string; ttl_seconds?: number | undefined };

/**
 * Moves the end of a lease, at most to what its longest life was when it was minted. One that would not move forward keeps its end.
 * @throws Refusal not_found, not_renewable, conflict for a lease that ended or is being worked on for long, connection_disabled, what `withDatabase` throws
 */
export async function renewLease(ctx: Ctx, { id, ttl_seconds }: Input): Promise<ShownLease> {
  const claim = newId();
  const take = async (tx: Tx) => {
    const row = await lockedLease(tx, ctx, id);
    assertRenewable(row, ctx.now);
    const connection = await connectionById(tx, ctx, row.connection_id);
    if (!connection) throw new Refusal('conflict', 'The connection of this lease is gone.');
    if (!connection.enabled)
      throw new Refusal('connection_disabled', `The connection ${connection.name} is disabled. Enable it to renew leases.`);
    const role = await tx.dyn_db_roles.findFirst({ where: { ...own(ctx), id: row.role_id } });
    const ttls = { connection, role: role ?? { default_ttl_seconds: null, max_ttl_seconds: null }, iam: false, sandbox: ctx.sandbox };
    const wanted = ctx.now.getTime() + effectiveTtl(ttls, ttl_seconds) * 1_000;
    const until = new Date(Math.min(wanted, row.max_expires_at.getTime()));
    if (until <= row.expires_at) return unchanged({ row, access: null, until: row.expires_at });
    await tx.dyn_db_leases.update({
      where: { id: row.id, ...own(ctx) },
      data: {
        ...{ phase: 'renewing', status: row.status === 'errored' ? 'errored' : 'renewing' },
        ...{ claimed_by: claim, claimed_until: new Date(ctx.now.getTime() + CLAIM_MS) },
      },
      select: { id: true },
    });
    const entry = entryOf('update', row, { outcome: 'renewed', from: row.expires_at.toISOString(), to: until.toISOString() });
    return audited({ row, access: await accessOf(tx, ctx, connection), until }, entry);
  };
  const { row, access, until } = await whenFree(ctx, () => mutate<Taken>(ctx, take));
  if (!access) return shownLease(row);
  try {
    // Only PostgreSQL keeps the end itself; the others have it from the lease alone.
    if (row.engine === 'postgres') await withDatabase(ctx, access, (session) => session.extendUser(row.username, until));
  } catch (error) {
    await setBack(ctx, row, claim, sentenceOf(error));
    throw error;
  }
  return inTransaction(ctx, (tx) => renewed(tx, ctx, row, claim, until));
}

type Taken = { row: LeaseRow; access: Access | null; until: Date };

function assertRenewable(row: LeaseRow, now: Date): void {
  if (!row.renewable) throw new Refusal('not_renewable', 'This lease is of a signed token, which has a fixed end. Mint another one.');
  assertFree(row, now);
  if (row.ended_at !== null || row.phase === 'revoking' || row.expires_at <= now)
    throw new Refusal('conflict', 'The lease has ended. Mint another one.');
}

async function renewed(tx: Tx, ctx: Ctx, row: LeaseRow, claim: string, until: Date): Promise<ShownLease> {
  const { count } = await tx.dyn_db_leases.updateMany({
    where: { id: row.id, ...own(ctx), phase: 'renewing', claimed_by: claim },
    data: { ...UNCLAIMED, phase: 'none', status: 'active', expires_at: until, attempts: 0, last_error: null },
  });
  if (count === 0) throw new Refusal('conflict', 'The lease was revoked while it was renewed.');
  return shownLease({ ...row, status: 'active', expires_at: until, attempts: 0, last_error: null });
}

async function setBack(ctx: Ctx, row: LeaseRow, claim: string, error: string): Promise<void> {
  const mails = await inTransaction(ctx, async (tx) => {
    const { entries, mails } = await renewalFailed(tx, ctx, row, claim, { error });
    await writeAudits(tx, ctx, entries);
    return mails;
  });
  for (const id of mails) dispatch(ctx.db, id);
}

export type ShownLease = Pick<
  LeaseRow,
  'status' | 'expires_at' | 'issued_at' | 'username' | 'connection_name' | 'role_name' | 'engine' | 'renewable' | 'attempts' | 'last_error'
> & { id: number };

/** As callers see it: known by its number. */
export const shownLease = ({
  number,
  status,
  expires_at,
  issued_at,
  username,
  connection_name,
  role_name,
  engine,
  renewable,
  attempts,
  last_error,
}: LeaseRow): ShownLease => ({
  ...{ id: number, status, expires_at, issued_at, username, connection_name, role_name, engine, renewable, attempts, last_error },
});
