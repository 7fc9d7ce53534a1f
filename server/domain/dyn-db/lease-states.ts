import { raise } from '#server/domain/events/service.ts';
import { postTeamMails } from '#server/domain/mail/service.ts';
import type { AuditEntry } from '#server/kernel/audit-entry.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';
import { leaseErrored } from './letters.ts';
import type { LeaseRow } from './store.ts';

/** Whoever works on a server for a lease has it alone for so long; work there ends sooner (`WORK_MS`). */
export const CLAIM_MS = 120_000;
/** After the first to the fourth failure in a row; the fifth is errored, which is tried once an hour without changing it. */
const RETRIES_MS = [30_000, 120_000, 600_000, 1_800_000];
const SLOW_RETRY_MS = 3_600_000;
export const MOST_ATTEMPTS = 5;

export const isClaimed = ({ claimed_until }: Pick<LeaseRow, 'claimed_until'>, now: Date): boolean =>
  claimed_until !== null && claimed_until > now;

/** Columns of a lease that nobody works on. */
export const UNCLAIMED = { claimed_by: null, claimed_until: null };

/** When a worker must look at a lease again; null when its user is gone. */
export function dueAt(row: LeaseRow, now: Date): Date | null {
  if (row.ended_at !== null) return null;
  if (isClaimed(row, now)) return row.claimed_until;
  if (row.phase === 'revoking') return row.next_attempt_at ?? now;
  return row.phase === 'none' ? row.expires_at : now;
}

/** Its user is gone from the server. Only whoever has the claim says so. @returns whether it was theirs to say */
export async function ended(tx: Tx, ctx: Ctx, { id }: Pick<LeaseRow, 'id'>, claim: string, as: LeaseRow['ends_as']): Promise<boolean> {
  const { count } = await tx.dyn_db_leases.updateMany({
    where: { id, ...own(ctx), claimed_by: claim, ended_at: null },
    data: { ...UNCLAIMED, status: as, phase: 'none', ends_as: as, ended_at: ctx.now, next_attempt_at: null, last_error: null },
  });
  return count === 1;
}

export const entryOf = (action: AuditEntry['action'], row: LeaseRow, details: Record<string, unknown> = {}): AuditEntry => ({
  action,
  resource_type: 'dyn_db_lease',
  resource_id: row.id,
  name: row.username,
  details: { lease_id: row.number, connection: row.connection_name, role: row.role_name, ...details },
});

/** What a failure makes of a lease: another attempt, or after five of them errored, which its owners are told once. */
export type Setback = { entries: AuditEntry[]; mails: string[] };

/**
 * A revocation failed. `at_once` leaves the next attempt to the sweeper without counting this one: a caller made it, out of turn.
 * @returns what is to be written and mailed
 */
export async function revocationFailed(
  tx: Tx,
  ctx: Ctx,
  row: LeaseRow,
  claim: string,
  { error, at_once = false }: { error: string; at_once?: boolean },
): Promise<Setback> {
  const attempts = row.attempts + (at_once ? 0 : 1);
  const errored = attempts >= MOST_ATTEMPTS;
  const wait = at_once ? 0 : (RETRIES_MS[attempts - 1] ?? SLOW_RETRY_MS);
  const { count } = await tx.dyn_db_leases.updateMany({
    where: { id: row.id, ...own(ctx), claimed_by: claim, ended_at: null },
    data: {
      ...UNCLAIMED,
      attempts,
      last_error: error,
      status: errored ? 'errored' : 'renewing',
      next_attempt_at: new Date(ctx.now.getTime() + (errored ? SLOW_RETRY_MS : wait)),
    },
  });
  return count === 1 && errored && row.status !== 'errored' ? tellErrored(tx, ctx, row, { error, what: 'revoke' }) : NOTHING;
}

/** A renewal failed: the lease goes on as it was. */
export async function renewalFailed(tx: Tx, ctx: Ctx, row: LeaseRow, claim: string, { error }: { error: string }): Promise<Setback> {
  const attempts = row.attempts + 1;
  const errored = attempts >= MOST_ATTEMPTS || row.status === 'errored';
  const { count } = await tx.dyn_db_leases.updateMany({
    where: { id: row.id, ...own(ctx), claimed_by: claim, ended_at: null, phase: 'renewing' },
    data: { ...UNCLAIMED, attempts, last_error: error, phase: 'none', status: errored ? 'errored' : 'active' },
  });
  return count === 1 && errored && row.status !== 'errored' ? tellErrored(tx, ctx, row, { error, what: 'renew' }) : NOTHING;
}

const NOTHING: Setback = { entries: [], mails: [] };

async function tellErrored(
  tx: Tx,
  ctx: Ctx,
  row: LeaseRow,
  { error, what }: { error: string; what: 'renew' | 'revoke' },
): Promise<Setback> {
  await raise(tx, ctx, [{ type: 'dyn_db.lease.errored', source_id: row.id, data: { ...factsOf(row), attempt: what, error } }]);
  const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
  const url = `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${spaceOf(ctx.sandbox)}/database-credentials`;
  const letter = leaseErrored({ ...row, what, error, workspace: workspace.name, space: spaceOf(ctx.sandbox) }, url);
  const mails = await postTeamMails(tx, { tenant_id: ctx.tenant_id, kind: 'dyn_db_lease_errored', letter, now: ctx.now });
  return { entries: [entryOf('update', row, { outcome: 'errored', attempt: what, error })], mails };
}

/** What an event says of a lease. */
export const factsOf = ({ number, username, connection_name, role_name, engine }: LeaseRow) => ({
  lease_id: number,
  username,
  connection: connection_name,
  role: role_name,
  engine,
});
