import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate, unchanged, writeAudits } from '#server/kernel/mutate.ts';
import { CLAIM_MS, ended, entryOf, isClaimed, revocationFailed } from './lease-states.ts';
import { drop } from './minting.ts';
import { sentenceOf } from './refusals.ts';
import { type Access, accessOf, withDatabase } from './sessions.ts';
import { connectionById, type LeaseRow, lockedLease } from './store.ts';
import { whenFree } from './waiting.ts';

/**
 * Removes a lease's user now. The entry is written before the database is touched; if that can't be reached the lease stays, and the sweeper goes on.
 * @throws Refusal not_found, conflict when another call or the sweeper is at it for long, what `withDatabase` throws
 */
export async function revokeLease(ctx: Ctx, { id }: { id: string }) {
  const trigger = ctx.actor.type === 'member' ? 'dashboard' : 'api';
  const claim = newId();
  const take = async (tx: Tx) => {
    const row = await lockedLease(tx, ctx, id);
    if (row.ended_at !== null) return unchanged({ row, access: null });
    assertFree(row, ctx.now);
    const connection = row.execution_mode === 'iam' ? null : await connectionById(tx, ctx, row.connection_id);
    const access = connection ? await accessOf(tx, ctx, connection) : null;
    await tx.dyn_db_leases.update({
      where: { id: row.id, ...own(ctx) },
      data: {
        ...{ phase: 'revoking', ends_as: 'revoked', status: row.status === 'errored' ? 'errored' : 'renewing', next_attempt_at: null },
        ...{ claimed_by: claim, claimed_until: new Date(ctx.now.getTime() + CLAIM_MS) },
        // An end of its own begins to count anew.
        ...(row.phase === 'revoking' ? {} : { attempts: 0 }),
      },
      select: { id: true },
    });
    // There is no user of ours, or none that could be reached: the token runs out by itself.
    if (!access) await ended(tx, ctx, row, claim, 'revoked');
    return audited({ row, access }, entryOf('revoke', row, { trigger }));
  };
  const { row, access } = await whenFree(ctx, () => mutate<Taken>(ctx, take));
  if (access) await removed(ctx, row, claim, () => withDatabase(ctx, access, (session) => drop(session, row)));
  return { revoked: row.number, ...(row.execution_mode === 'iam' ? { message: recalled(row) } : {}) };
}

type Taken = { row: LeaseRow; access: Access | null };

const recalled = ({ expires_at }: LeaseRow) =>
  `The lease is revoked, but its token can't be recalled: it logs in until ${expires_at.toISOString()}.`;

/** @throws Refusal conflict */
export function assertFree(row: LeaseRow, now: Date): void {
  if (isClaimed(row, now))
    throw new Refusal('conflict', 'The lease is being created, renewed or revoked right now. Try again shortly.', { retryAfter: 2 });
}

async function removed(ctx: Ctx, row: LeaseRow, claim: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await inTransaction(ctx, async (tx) => {
      const { entries } = await revocationFailed(tx, ctx, row, claim, { error: sentenceOf(error), at_once: true });
      await writeAudits(tx, ctx, entries);
    });
    throw error;
  }
  await inTransaction(ctx, (tx) => ended(tx, ctx, row, claim, 'revoked'));
}
