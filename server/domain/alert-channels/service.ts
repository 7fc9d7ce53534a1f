import { z } from 'zod';
import { requireFeature } from '#server/domain/plans/service.ts';
import { confirmMove } from '#server/domain/reveals/service.ts';
import { checkUrl } from '#server/domain/webhooks/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { originOf } from '#server/kernel/moves.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { canSendTexts } from '#server/platform/sms.ts';
import { ALERT_CHANNEL, type ChannelField, type ChannelKind, KIND_FIELDS, PAID_KINDS } from './kinds.shared.ts';
import type { QuietHours } from './quiet.shared.ts';
import type { CreateAlertChannel, UpdateAlertChannel } from './schema.ts';
import { type ChannelSecrets, openSecrets, sealSecrets } from './sealing.ts';
import { membersAmong, urlOf } from './sending.ts';
import { type ChannelRow, channelById, lockedChannel } from './store.ts';

export { ALERT_CHANNEL } from './kinds.shared.ts';
export type { AlertMessage } from './message.ts';
export { queueMessage } from './queueing.ts';
export { type ChannelRow, lockedChannel } from './store.ts';
export { testMessage, tryChannel } from './trial.ts';

const MOST = 50;

/** The channels of the space, by name. */
export const listChannels = (ctx: Ctx) =>
  read(ctx, async (tx) => {
    const rows = await tx.alert_channels.findMany({ where: own(ctx), orderBy: [{ name: 'asc' }, { id: 'asc' }] });
    const users = await usersOf(tx, ctx);
    return rows.map((row) => view(row, users.get(row.id) ?? 0));
  });

/** @throws Refusal not_found */
export const getChannel = (ctx: Ctx, { id }: { id: string }) => read(ctx, async (tx) => shown(tx, ctx, await channelById(tx, ctx, id)));

const shown = async (tx: Tx, ctx: Ctx, row: ChannelRow) => view(row, (await usersOf(tx, ctx)).get(row.id) ?? 0);

/** How many alerts name each channel. */
async function usersOf(tx: Tx, ctx: Ctx): Promise<Map<string, number>> {
  const rows = await tx.$queryRaw<{ id: string; n: number }[]>`
    select c as id, count(*)::int as n from alerts, unnest(channel_ids) c where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} group by 1`;
  return new Map(rows.map(({ id, n }) => [id, n]));
}

/** The rows of channels of this space. @throws Refusal validation_error on `channel_ids` for any that isn't one */
export async function channelsNamed(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<ChannelRow[]> {
  const rows = await tx.alert_channels.findMany({ where: { ...own(ctx), id: { in: [...ids] } } });
  if (rows.length < ids.length) throw invalid('channel_ids', "has an ID that doesn't exist in this space");
  return rows;
}

/** @throws Refusal validation_error, conflict, plan_feature for SMS and Slack, tenant_sealed */
export async function createChannel(ctx: Ctx, input: z.output<typeof CreateAlertChannel>) {
  const { name, kind, quiet_hours, enabled } = input;
  await judge(ctx, kind, input, true);
  const id = newId();
  const secrets = secretsOf(input);
  const sealed = Object.keys(secrets).length > 0 ? await sealSecrets(ctx, id, secrets) : {};
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `${ctx.tenant_id}:alert-channels`);
    await assertFreeName(tx, ctx, name);
    if ((await tx.alert_channels.count({ where: own(ctx) })) >= MOST)
      throw new Refusal('conflict', `A space can have at most ${MOST} alert channels. Delete one first.`);
    const row = await tx.alert_channels.create({
      data: {
        ...{ id, ...own(ctx), name, kind, enabled, ...sealed, host: hostOf(kind, secrets.url), recipients: input.recipients ?? [] },
        ...{ quiet_hours: quiet_hours ?? Prisma.DbNull, created_at: ctx.now, updated_at: ctx.now },
      },
    });
    await saveSubscription(tx, ctx, row);
    return audited(view(row, 0), { action: 'create', ...entryOf(row), details: { kind, host: row.host } });
  });
}

/**
 * The token never follows to another host, unless it is given again or its move confirmed. The signing secret is never sent.
 * @throws Refusal not_found, validation_error, conflict, plan_feature, tenant_sealed, what `confirmMove` throws
 */
export async function updateChannel(ctx: Ctx, { id, ...input }: z.output<typeof UpdateAlertChannel>) {
  const known = await read(ctx, (tx) => channelById(tx, ctx, id));
  const kind = known.kind as ChannelKind;
  await judge(ctx, kind, input, false);
  const given = secretsOf(input);
  const changed = Object.keys(given) as (keyof ChannelSecrets)[];
  const held = changed.length > 0 ? await openSecrets(ctx, known) : {};
  const sealed =
    changed.length > 0
      ? {
          ...(await sealSecrets(ctx, known.id, { ...held, ...given })),
          ...(given.url === undefined ? {} : { host: hostOf(kind, given.url) }),
        }
      : {};
  return mutate(ctx, async (tx) => {
    const before = await lockedChannel(tx, ctx, id);
    // What is stored is what was sealed above, of one place and its credentials, whatever another call stored meanwhile.
    const move = await confirmMove(tx, ctx, {
      moved: given.url === undefined || placeOf(kind, given.url) === placeOf(kind, held.url) ? [] : ['url'],
      kept: held.token !== undefined && given.token === undefined ? ['token'] : [],
      again: ['token'],
      reveal: { class: 'B', policy: 'secret:reveal' },
      about: [before],
      route: 'alert_channels.update',
    });
    if (input.name !== undefined && input.name !== before.name) await assertFreeName(tx, ctx, input.name);
    const { name = before.name, recipients = before.recipients, enabled = before.enabled, quiet_hours } = input;
    const row = await tx.alert_channels.update({
      where: { id: before.id },
      data: {
        ...{ name, recipients, enabled, ...sealed, updated_at: ctx.now },
        ...(quiet_hours === undefined ? {} : { quiet_hours: quiet_hours ?? Prisma.DbNull }),
        ...(changed.length > 0 ? { last_error: null } : {}),
      },
    });
    await saveSubscription(tx, ctx, row);
    const [first, ...more] = entriesOf(before, row, changed, move);
    const answer = await shown(tx, ctx, row);
    return first ? audited(answer, first, more) : unchanged(answer);
  });
}

/** What waits for it is dropped, and no alert names it any more. @throws Refusal not_found */
export const deleteChannel = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const row = await lockedChannel(tx, ctx, id);
    await tx.event_subscriptions.deleteMany({ where: { ...own(ctx), channel: ALERT_CHANNEL, destination_id: row.id } });
    await tx.$executeRaw`update alerts set channel_ids = array_remove(channel_ids, ${row.id}::uuid)
      where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and channel_ids @> array[${row.id}::uuid]`;
    await tx.alert_channels.delete({ where: { id: row.id } });
    return audited({ deleted: true as const }, { action: 'delete', ...entryOf(row), details: { kind: row.kind } });
  });

/** No event is matched to it: messages are queued for it by name. What is queued while it is off is dropped. */
async function saveSubscription(tx: Tx, ctx: Ctx, { id, enabled }: ChannelRow): Promise<void> {
  const at = { channel: ALERT_CHANNEL, destination_id: id };
  await tx.event_subscriptions.upsert({
    where: { channel_destination_id: at },
    create: { ...own(ctx), ...at, id, enabled, event_types: [] },
    update: { enabled },
  });
}

type Given = { [F in ChannelField]?: unknown } & ChannelSecrets & { recipients?: string[] | undefined };

/** What a kind takes and can't be without, and whether it may be sent to. @throws Refusal validation_error, plan_feature */
async function judge(ctx: Ctx, kind: ChannelKind, given: Given, creating: boolean): Promise<void> {
  const { takes, needs } = KIND_FIELDS[kind];
  for (const field of ['recipients', 'url', 'token', 'signing_secret'] as const)
    if (given[field] !== undefined && !takes.includes(field)) throw invalid(field, `is not for channels of kind ${kind}`);
  const missing = creating ? needs.find((field) => given[field] === undefined) : undefined;
  if (missing) throw invalid(missing, `is required for channels of kind ${kind}`);
  if (PAID_KINDS.includes(kind)) requireFeature(ctx, 'sms_slack_alerts');
  if (kind === 'sms' && creating && !canSendTexts() && !ctx.sandbox)
    throw invalid('kind', 'must not be sms: this installation has no SMS provider. Its operator sets SMS_PROVIDER_URL');
  await judgeRecipients(ctx, kind, given.recipients);
  if (given.url === undefined) return;
  const { problem, warnings } = await checkUrl(given.url, ctx);
  if (problem !== null) throw invalid('url', problem);
  ctx.warnings.push(...warnings);
}

const NUMBER = /^\+[1-9][0-9]{6,14}$/;

async function judgeRecipients(ctx: Ctx, kind: ChannelKind, recipients: readonly string[] | undefined): Promise<void> {
  if (recipients === undefined) return;
  const valid = kind === 'sms' ? (one: string) => NUMBER.test(one) : (one: string) => z.email().safeParse(one).success;
  if (!recipients.every(valid))
    throw invalid('recipients', kind === 'sms' ? 'must be numbers such as +14155550100' : 'must be email addresses');
  if (kind !== 'email' || !ctx.sandbox) return;
  const members = await membersAmong(ctx.tenant_id, recipients);
  if (members.length < recipients.length) throw invalid('recipients', 'must be addresses of members: Test mails nobody else');
}

const secretsOf = ({ url, token, signing_secret }: ChannelSecrets): ChannelSecrets => ({
  ...(url === undefined ? {} : { url }),
  ...(token === undefined ? {} : { token }),
  ...(signing_secret === undefined ? {} : { signing_secret }),
});

function hostOf(kind: ChannelKind, url: string | undefined): string | null {
  const to = urlOf(kind, url);
  return to === undefined ? null : new URL(to).host;
}
const placeOf = (kind: ChannelKind, url: string | undefined) => originOf(urlOf(kind, url) ?? '');

async function assertFreeName(tx: Tx, ctx: Ctx, name: string): Promise<void> {
  if (await tx.alert_channels.findFirst({ where: { ...own(ctx), name }, select: { id: true } }))
    throw new Refusal('conflict', `There is an alert channel named ${name} already.`);
}

const entryOf = ({ id, name }: ChannelRow): Omit<AuditEntry, 'action'> => ({ resource_type: 'alert_channel', resource_id: id, name });

/** Turning it on or off is an entry of its own; secrets are named without their values. */
function entriesOf(before: ChannelRow, after: ChannelRow, secrets: readonly string[], move: Record<string, unknown>): AuditEntry[] {
  const plain = (['name', 'recipients', 'quiet_hours'] as const).filter(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  );
  const changes = [
    ...plain.map((field) => ({ field, from: before[field], to: after[field] })),
    ...secrets.map((field) => ({ field, changed: true as const })),
  ];
  return [
    ...(before.enabled === after.enabled ? [] : [{ action: after.enabled ? 'enable' : 'disable', ...entryOf(after) }]),
    ...(changes.length > 0 ? [{ action: 'update', ...entryOf(after), changes, details: move }] : []),
  ];
}

const view = ({ value_ct: _, cek_wrapped: _k, tmk_version: _v, ...row }: ChannelRow, alerts: number) => ({
  ...row,
  kind: row.kind as ChannelKind,
  quiet_hours: row.quiet_hours as QuietHours | null,
  alerts,
});
