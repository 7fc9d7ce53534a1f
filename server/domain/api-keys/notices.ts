import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { keyEnding, keyMade } from '#server/domain/mail/templates.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { env } from '#server/platform/env.ts';
import { take } from '#server/platform/throttle.ts';

/** Keys created in a loop must not fill a mailbox; the audit log lists every key. */
const MADE_AN_HOUR = 20;

type Made = { id: string; key_id: string; key_type: string; name: string };

/**
 * Mails the Owners about a new access key, and about any key made by a machine (interface rule 20 §1.9). Written with the key; call the answer
 * after the commit.
 */
export async function notifyKeyCreated(tx: Tx, ctx: Ctx, key: Made): Promise<() => void> {
  const access = key.key_type === 'access_key';
  const byMachine = ctx.actor.type === 'api_key' || (ctx.actor.type === 'oauth_token' && ctx.actor.user_id === null);
  if (!access && !byMachine) return () => {};
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

/** Mails the Owners that a key expires within this many days, or that it has expired (0), in the caller's transaction. */
export async function notifyKeyExpiry(tx: Tx, key: Ending, days: number, now: Date): Promise<void> {
  const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: key.tenant_id }, select: { name: true, slug: true } });
  const space = spaceOf(key.sandbox);
  const letter = keyEnding({ ...key, workspace: workspace.name, space, ends: key.expires_at, days }, keysUrl(workspace.slug, space));
  await postTeamMails(tx, { tenant_id: key.tenant_id, kind: 'api_key_ending', letter, now });
}

const keysUrl = (slug: string, space: string) => `${env.PUBLIC_ADMIN_URL}/${slug}/${space}/api-keys`;
