import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { keyEnding, keyMade } from '#server/domain/mail/templates.ts';
import { take } from '#server/domain/people/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';

const DAY = 24 * 3_600_000;
/** Days ahead of its end at which a key is mailed about; the mail of its end itself belongs to the job that disables it. */
const AHEAD = [14, 3] as const;
/** A key in a loop must not fill anybody's mailbox; the audit log has every key. */
const MADE_AN_HOUR = 20;

type Made = { id: string; key_id: string; key_type: string; name: string };

/**
 * Mails the Owners about a new access key, and about any key made by another key (interface rule 20 §1.9). Written with the key; call the answer
 * after the commit.
 */
export async function notifyKeyCreated(tx: Tx, ctx: Ctx, key: Made): Promise<() => void> {
  const access = key.key_type === 'access_key';
  if (!access && ctx.actor.type !== 'api_key') return () => {};
  const rule = { what: 'key-made-mail', subject: ctx.tenant_id, limit: MADE_AN_HOUR, window_sec: 3600 };
  if (!(await take(rule, ctx.now)).allowed) return () => {};
  const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
  const space = spaceOf(ctx.sandbox);
  const letter = keyMade(
    { ...key, workspace: workspace.name, space, access, by: ctx.actor.label, ip: ctx.ip, at: ctx.now },
    keysUrl(workspace.slug, space),
  );
  const ids = await postTeamMails(tx, { tenant_id: ctx.tenant_id, kind: 'api_key_made', letter, now: ctx.now });
  return () => {
    for (const id of ids) dispatch(ctx.db, id);
  };
}

type Ending = { id: string; tenant_id: string; sandbox: boolean; name: string; key_id: string; expires_at: Date };

/** Mails the Owners that a key ends in so many days; 0 when it has ended. In the caller's transaction. */
export async function notifyKeyExpiry(tx: Tx, key: Ending, days: number, now: Date): Promise<void> {
  const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: key.tenant_id }, select: { name: true, slug: true } });
  const space = spaceOf(key.sandbox);
  const letter = keyEnding({ ...key, workspace: workspace.name, space, ends: key.expires_at, days }, keysUrl(workspace.slug, space));
  await postTeamMails(tx, { tenant_id: key.tenant_id, kind: 'api_key_ending', letter, now });
}

/** Tells of keys that end within 14 and within 3 days, each once; called by the worker each hour. @returns keys told of */
export async function notifyExpiringKeys(db: Db, now: Date): Promise<number> {
  const rows = await db.api_keys.findMany({
    where: { active: true, revoke_at: null, expires_at: { gt: now, lte: new Date(now.getTime() + AHEAD[0] * DAY) } },
    select: { id: true, tenant_id: true, sandbox: true, name: true, key_id: true, expires_at: true, expiry_told: true },
  });
  let told = 0;
  for (const { expiry_told, expires_at, ...key } of rows) {
    const days = expires_at && AHEAD.filter((d) => expires_at.getTime() - now.getTime() <= d * DAY).at(-1);
    if (!expires_at || !days || (expiry_told !== null && expiry_told <= days)) continue;
    await db.$transaction(async (tx) => {
      const { count } = await tx.api_keys.updateMany({ where: { id: key.id, expires_at, expiry_told }, data: { expiry_told: days } });
      if (count === 0) return; // told by another worker, or the end was moved
      await notifyKeyExpiry(tx, { ...key, expires_at }, days, now);
      told++;
    });
  }
  return told;
}

const keysUrl = (slug: string, space: string) => `${env.PUBLIC_ADMIN_URL}/${slug}/${space}/api-keys`;
