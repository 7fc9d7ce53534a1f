import { dispatch } from '#server/domain/mail/service.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Lease, LeaseHandlers, LeaseOutcome } from '#server/kernel/lease.ts';
import { db } from '#server/platform/db.ts';
import { mailClaim } from './service.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** An unused sign-up is kept this long after its expiry. */
const KEPT_MS = 7 * 24 * HOUR;

export const leases: LeaseHandlers = { signup_claim: { handle: followUp } };

/** Mails the link of a sign-up whose process died before it could, and deletes sign-ups that were never confirmed. */
async function followUp(tx: Tx, due: readonly Lease[], now: Date): Promise<LeaseOutcome> {
  const claims = await tx.signup_claims.findMany({
    where: { id: { in: due.map(({ resource_id }) => resource_id) }, ready_at: null },
    select: { id: true, created_at: true, expires_at: true },
  });
  const next = new Map<string, Date>();
  const mails: string[] = [];
  let deleted = 0;
  for (const { id, created_at, expires_at } of claims) {
    const age = now.getTime() - created_at.getTime();
    const end = new Date(expires_at.getTime() + KEPT_MS);
    if (end <= now) deleted += (await tx.signup_claims.deleteMany({ where: { id, ready_at: null } })).count;
    else if (age < MINUTE) next.set(id, new Date(created_at.getTime() + MINUTE));
    else {
      const mail = age < HOUR ? await mailClaim(tx, id, now) : null;
      if (mail) mails.push(mail);
      next.set(id, end);
    }
  }
  const committed = () => {
    for (const id of mails) dispatch(db(), id);
  };
  return { next, acted: mails.length + deleted, committed };
}
