import { raise } from '#server/domain/events/service.ts';
import { dispatch, type Letter, postTeamMails } from '#server/domain/mail/service.ts';
import { own, spaceOf } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { env } from '#server/platform/env.ts';
import { log } from '#server/platform/log.ts';
import { webhookDisabled, webhookFailing } from './letters.ts';
import { CHANNEL } from './options.shared.ts';

type Ref = { id: string; tenant_id: string; sandbox: boolean };

/**
 * Turns a webhook off because its receiver fails or is gone: audited, told to Owners and Admins by mail and to other webhooks as an event, all in one
 * transaction. What waits for it is dropped. @returns false when it is off already, or gone
 */
export async function disableWebhook(db: Db, ref: Ref, reason: 'failing' | 'gone', now: Date): Promise<boolean> {
  const ctx = systemContext(db, { ...ref, now, label: 'webhook health' });
  const mails = await mutate(ctx, async (tx) => {
    await tx.$queryRaw`select 1 from webhooks where id = ${ref.id}::uuid for no key update`;
    const webhook = await tx.webhooks.findFirst({ where: { ...own(ctx), id: ref.id, enabled: true } });
    if (!webhook) return unchanged(null);
    const { id, name, url } = webhook;
    await tx.webhooks.update({ where: { id }, data: { enabled: false, disabled_reason: reason, disabled_at: now, updated_at: now } });
    await tx.event_subscriptions.updateMany({ where: { ...own(ctx), channel: CHANNEL, destination_id: id }, data: { enabled: false } });
    const host = new URL(url).host;
    await raise(tx, ctx, [{ type: 'webhook.disabled', source_id: id, data: { webhook_id: id, webhook_name: name, host, reason } }]);
    const written = await mailTeam(tx, ref, now, 'webhook_disabled', (about, link) =>
      webhookDisabled({ ...about, name, host, reason }, link),
    );
    return audited(written, { action: 'disable', resource_type: 'webhook', resource_id: id, name, details: { reason } });
  });
  for (const id of mails ?? []) dispatch(db, id);
  return mails !== null;
}

type About = { workspace: string; space: string };

/** To Owners and Admins. @returns the mails, to dispatch after the commit */
async function mailTeam(
  tx: Tx | Db,
  { id, tenant_id, sandbox }: Ref,
  now: Date,
  kind: string,
  letter: (about: About, link: string) => Letter,
) {
  const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: tenant_id }, select: { name: true, slug: true } });
  const space = spaceOf(sandbox);
  const link = `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${space}/webhooks/${id}`;
  return postTeamMails(tx, { tenant_id, kind, to: ['owner', 'admin'], letter: letter({ workspace: workspace.name, space }, link), now });
}

const BATCH = 200;

/**
 * The job of all workspaces: webhooks whose every delivery has failed for five days, twenty at least, are disabled; those that have failed for a day are
 * warned of, once until they succeed. @returns how many of each
 */
export async function checkHealth(db: Db, now: Date): Promise<{ disabled: number; warned: number }> {
  const failing = await db.$queryRaw<Ref[]>`
    select id, tenant_id, sandbox from webhooks where enabled and failing_since <= ${now}::timestamptz - interval '5 days' and consecutive_failures >= 20
      and (last_success_at is null or last_success_at < failing_since) order by failing_since limit ${BATCH}`;
  let disabled = 0;
  for (const ref of failing) {
    try {
      if (await disableWebhook(db, ref, 'failing', now)) disabled++;
    } catch (error) {
      log.error({ err: error, webhook_id: ref.id }, 'cannot disable a failing webhook');
    }
  }
  return { disabled, warned: await warn(db, now) };
}

async function warn(db: Db, now: Date): Promise<number> {
  const { count, mails } = await db.$transaction(async (tx) => {
    const rows = await tx.$queryRaw<(Ref & { name: string; url: string; failing_since: Date })[]>`
      select id, tenant_id, sandbox, name, url, failing_since from webhooks
      where enabled and warned_at is null and failing_since <= ${now}::timestamptz - interval '24 hours'
      order by failing_since limit ${BATCH} for update skip locked`;
    const written: string[] = [];
    for (const row of rows)
      written.push(
        ...(await mailTeam(tx, row, now, 'webhook_failing', (about, link) =>
          webhookFailing({ ...about, name: row.name, host: new URL(row.url).host, since: row.failing_since }, link),
        )),
      );
    await tx.$executeRaw`update webhooks set warned_at = ${now} where id = any(${rows.map(({ id }) => id)}::uuid[])`;
    return { count: rows.length, mails: written };
  });
  for (const id of mails) dispatch(db, id);
  return count;
}
