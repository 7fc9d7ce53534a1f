import type { z } from 'zod';
import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { whenSealed } from '#server/domain/secrets/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import { env } from '#server/platform/env.ts';
import { webhookSecretRotated } from './letters.ts';
import type { RotateWebhookSecret, WebhookRef } from './schema.ts';
import { freshSecret, openText, sealText } from './sealing.ts';
import { entryOf } from './service.ts';
import { lockedWebhook, type WebhookRow, webhookById } from './store.ts';

const HOUR = 3_600_000;

/**
 * A new signing secret. The one before signs along, in formats that carry both, until the overlap ends. Owners are told when a program did it.
 * @throws Refusal not_found, conflict when a crypto key signs, tenant_sealed
 */
export async function rotateSecret(ctx: Ctx, { id, overlap_hours }: z.output<typeof RotateWebhookSecret>) {
  const { hmac_format } = await read(ctx, (tx) => webhookById(tx, ctx, id));
  const secret_key = freshSecret(hmac_format);
  const sealed = await sealText(ctx, 'webhook_secret', secret_key).catch(whenSealed);
  const { answer, mails } = await mutate(ctx, async (tx) => {
    const webhook = await lockedWebhook(tx, ctx, id);
    requireOwnSecret(webhook);
    const ends = overlap_hours === 0 ? null : new Date(ctx.now.getTime() + overlap_hours * HOUR);
    const mine = { ...own(ctx), webhook_id: webhook.id };
    await tx.webhook_secrets.deleteMany({ where: ends === null ? mine : { ...mine, expires_at: { not: null } } });
    await tx.webhook_secrets.updateMany({ where: mine, data: { expires_at: ends } });
    await tx.webhook_secrets.create({ data: { ...mine, ...sealed, created_at: ctx.now } });
    await tx.webhooks.update({ where: { id: webhook.id }, data: { previous_secret_expires_at: ends, updated_at: ctx.now } });
    const answer = { id: webhook.id, secret_key, previous_secret_expires_at: ends };
    const written = ctx.actor.type === 'member' ? [] : await mailOwners(tx, ctx, webhook);
    return audited({ answer, mails: written }, entryOf('update', webhook, { field: 'secret_key', overlap_hours }));
  });
  for (const mail of mails) dispatch(ctx.db, mail);
  return answer;
}

function requireOwnSecret({ hmac_key_id }: WebhookRow): void {
  if (hmac_key_id !== null)
    throw new Refusal('conflict', 'A crypto key signs this webhook. Rotate or look at the key under Crypto keys instead.');
}

async function mailOwners(tx: Tx, ctx: Ctx, { id, name }: WebhookRow): Promise<string[]> {
  const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
  const space = spaceOf(ctx.sandbox);
  const letter = webhookSecretRotated(
    { workspace: workspace.name, space, name, by: ctx.actor.label, at: ctx.now },
    `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${space}/webhooks/${id}`,
  );
  return postTeamMails(tx, { tenant_id: ctx.tenant_id, kind: 'webhook_secret_rotated', letter, now: ctx.now });
}

/** Row 20 of interface rule 32 §2. */
export const revealOfSecret: Reveal<z.output<typeof WebhookRef>> = {
  class: 'B',
  scope: 'plaintext.reveal',
  policy: 'webhook:reveal_secret',
  subject: async (ctx, { id }) => {
    const row = await read(ctx, (tx) => webhookById(tx, ctx, id));
    return { resource_type: 'webhook', resource_id: row.id, name: row.name };
  },
  state: async (ctx, { id }) => {
    requireOwnSecret(await read(ctx, (tx) => webhookById(tx, ctx, id)));
    return {};
  },
};

/** The signing secret whose reveal was audited. */
export const revealSecret = (ctx: Ctx, { id }: z.output<typeof WebhookRef>) =>
  read(ctx, async (tx) => {
    const webhook = await webhookById(tx, ctx, id);
    const row = await tx.webhook_secrets.findFirstOrThrow({ where: { ...own(ctx), webhook_id: webhook.id, expires_at: null } });
    const secret = await openText(ctx, 'webhook_secret', row).catch(whenSealed);
    const previous = webhook.previous_secret_expires_at;
    return { secret_key: secret, secret, previous_secret_expires_at: previous !== null && previous > ctx.now ? previous : null };
  });
