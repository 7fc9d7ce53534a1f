import type { Tx } from '#server/kernel/database.ts';
import type { Lease, LeaseHandlers, LeaseOutcome } from '#server/kernel/lease.ts';
import { type AuditEntry, writeAudits } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { notifyKeyExpiry } from './notices.ts';

const DAY = 24 * 3_600_000;
/** Days before its end at which the Owners are mailed about a key. */
const NOTICE_DAYS = [14, 3] as const;

export const leases: LeaseHandlers = { api_key: { batch: 500, handle: expireKeys } };

type Key = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  name: string;
  key_id: string;
  expires_at: Date | null;
  revoke_at: Date | null;
  expiry_told: number | null;
};

/** Disables keys at their end and mails ahead of it. A key is refused from its end on anyway; this updates lists, counts and plan limits (spec 20 §1). */
async function expireKeys(tx: Tx, due: readonly Lease[], now: Date): Promise<LeaseOutcome> {
  const keys: Key[] = await tx.api_keys.findMany({
    where: { id: { in: due.map(({ resource_id }) => resource_id) }, active: true },
    select: { id: true, tenant_id: true, sandbox: true, name: true, key_id: true, expires_at: true, revoke_at: true, expiry_told: true },
  });
  const disabled = await disable(
    tx,
    keys.filter((key) => endOf(key) <= now.getTime()),
    now,
  );
  let acted = disabled.length;
  const next = new Map<string, Date>();
  for (const key of keys.filter((key) => endOf(key) > now.getTime() && endOf(key) < Number.POSITIVE_INFINITY)) {
    if (await notify(tx, key, now)) acted++;
    next.set(key.id, nextTime(key, now));
  }
  return { next, acted };
}

const endOf = ({ expires_at, revoke_at }: Key) =>
  Math.min(expires_at?.getTime() ?? Number.POSITIVE_INFINITY, revoke_at?.getTime() ?? Number.POSITIVE_INFINITY);

/** A key whose end was moved in the meantime is left alone: the change has woken its lease again. */
async function disable(tx: Tx, keys: readonly Key[], now: Date): Promise<Key[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    update api_keys set active = false, revoked_at = case when revoke_at <= ${now} then revoke_at else revoked_at end
    where id = any(${keys.map(({ id }) => id)}::uuid[]) and active and least(expires_at, revoke_at) <= ${now} returning id`;
  const ended = new Set(rows.map(({ id }) => id));
  const disabled = keys.filter(({ id }) => ended.has(id));
  for (const [first, ...rest] of Map.groupBy(disabled, ({ tenant_id, sandbox }) => `${tenant_id} ${sandbox}`).values()) {
    if (!first) continue;
    const ctx = systemContext(db(), { tenant_id: first.tenant_id, sandbox: first.sandbox, now, label: 'key expiry' });
    await writeAudits(
      tx,
      ctx,
      [first, ...rest].map((key) => disableEntry(key, now)),
    );
  }
  for (const key of disabled)
    if (!isReplaced(key, now) && key.expires_at) await notifyKeyExpiry(tx, { ...key, expires_at: key.expires_at }, 0, now);
  return disabled;
}

const isReplaced = ({ revoke_at }: Key, now: Date) => revoke_at !== null && revoke_at <= now;

const disableEntry = (key: Key, now: Date): AuditEntry => ({
  action: 'disable',
  resource_type: 'api_key',
  resource_id: key.id,
  name: key.name,
  details: { reason: isReplaced(key, now) ? 'replaced' : 'expired', key_id: key.key_id },
});

/** Mails about the nearest notice that is reached and wasn't sent yet. False if there is none. */
async function notify(tx: Tx, { expires_at, revoke_at, expiry_told, ...key }: Key, now: Date): Promise<boolean> {
  if (!expires_at || revoke_at) return false;
  const days = NOTICE_DAYS.filter((d) => expires_at.getTime() - now.getTime() <= d * DAY).at(-1);
  if (!days || (expiry_told !== null && expiry_told <= days)) return false;
  const { count } = await tx.api_keys.updateMany({ where: { id: key.id, expires_at, expiry_told }, data: { expiry_told: days } });
  if (count === 1) await notifyKeyExpiry(tx, { ...key, expires_at }, days, now);
  return count === 1;
}

/** The next notice, or the end. */
function nextTime(key: Key, now: Date): Date {
  const { expires_at, revoke_at } = key;
  const notices = expires_at && !revoke_at ? NOTICE_DAYS.map((days) => expires_at.getTime() - days * DAY) : [];
  return new Date(Math.min(endOf(key), ...notices.filter((time) => time > now.getTime())));
}
