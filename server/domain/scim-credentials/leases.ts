import type { Tx } from '#server/kernel/database.ts';
import type { Lease, LeaseHandlers, LeaseOutcome } from '#server/kernel/lease.ts';
import { mailCredentialEnding } from './notices.ts';

const DAY = 24 * 3_600_000;
/** Days before its end at which the Owners are mailed about a credential (interface rule 23 §3), and its end. */
const NOTICE_DAYS = [30, 7, 1, 0] as const;

export const leases: LeaseHandlers = { scim_credential: { handle: warnOfExpiry } };

/** Mails ahead of the end of credentials. An ended one is refused anyway. */
async function warnOfExpiry(tx: Tx, due: readonly Lease[], now: Date): Promise<LeaseOutcome> {
  const credentials = await tx.scim_credentials.findMany({
    where: { id: { in: due.map(({ resource_id }) => resource_id) }, revoked_at: null, tenant: { deleted_at: null } },
  });
  const next = new Map<string, Date>();
  let acted = 0;
  for (const credential of credentials) {
    const { id, expires_at, expiry_told } = credential;
    const days = reachedNotice(credential, now);
    if (days !== undefined && (expiry_told === null || expiry_told > days)) {
      await tx.scim_credentials.update({ where: { id }, data: { expiry_told: days } });
      await mailCredentialEnding(tx, credential, days, now);
      acted++;
    }
    const coming = NOTICE_DAYS.map((n) => expires_at.getTime() - n * DAY).filter((time) => time > now.getTime());
    if (coming.length > 0) next.set(id, new Date(Math.min(...coming)));
  }
  return { next, acted };
}

/** The nearest notice that is reached. Of a credential made for less time than a notice is ahead, that notice is none. */
function reachedNotice({ created_at, expires_at }: { created_at: Date; expires_at: Date }, now: Date): number | undefined {
  const lifetime = expires_at.getTime() - created_at.getTime();
  return NOTICE_DAYS.filter((n) => n * DAY < lifetime && expires_at.getTime() - now.getTime() <= n * DAY).at(-1);
}
