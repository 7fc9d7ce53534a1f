import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { mintStandardSecret } from '#server/crypto/transit/standard-secret.ts';
import { assertMayCall, authorityOf } from '#server/domain/authorities/service.ts';
import { withinPlan } from '#server/domain/plans/service.ts';
import { whenSealed } from '#server/domain/secrets/service.ts';
import { checkUrl } from '#server/domain/webhooks/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { changed, type Looser, loosened, raised, turnedOn } from '#server/kernel/loosening.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { env } from '#server/platform/env.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import { type InboundFormat, REPEATABLE, TIMED } from './formats.shared.ts';
import type { CreateInboundWebhook, ListInboundWebhooks, UpdateInboundWebhook } from './schema.ts';
import { sealSecret } from './sealing.ts';
import { type InboundRow, inboundById, lockedInbound } from './store.ts';

export const listInbound = (ctx: Ctx, { enabled, ...query }: z.output<typeof ListInboundWebhooks>) =>
  read(ctx, async (tx) => {
    const filters = [enabled !== undefined && { column: 'enabled', is: enabled, mostly: true }];
    const { ids, total } = await listIds(tx, ctx, { ...query, table: 'inbound_webhooks', filters });
    const rows = await tx.inbound_webhooks.findMany({ where: { ...own(ctx), id: { in: ids } } });
    const base = await baseUrl(tx, ctx);
    return pageOf(
      inOrder(ids, rows).map((row) => view(row, base)),
      total,
      query,
    );
  });

/** @throws Refusal not_found */
export const getInbound = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => view(await inboundById(tx, ctx, id), await baseUrl(tx, ctx)));

/** @throws Refusal validation_error, conflict, plan_limit, tenant_sealed, forbidden or role_denied to call the route */
export async function createInbound(ctx: Ctx, { secret, ...input }: z.output<typeof CreateInboundWebhook>) {
  checkHeader(input.format, input.header_name ?? null);
  checkReplay(input.format, input);
  await checkTarget(ctx, input);
  const id = newId();
  const secret_key = secret ?? mintStandardSecret();
  const sealed = await sealSecret(ctx, id, secret_key).catch(whenSealed);
  return mutate(ctx, async (tx) => {
    await withinPlan(tx, ctx, 'inbound_webhooks');
    await checkRoute(tx, ctx, input.forward_route_id ?? null);
    const authority = await standingBehind(ctx, input.forward_route_id ?? null);
    await checkName(tx, ctx, input.name);
    const row = await tx.inbound_webhooks.create({
      data: { ...own(ctx), ...input, ...sealed, authority, id, secret_changed_at: ctx.now, created_at: ctx.now, updated_at: ctx.now },
    });
    const { format, forward_url, forward_route_id } = row;
    const answer = { ...view(row, await baseUrl(tx, ctx)), secret_key: secret === undefined ? secret_key : null };
    return audited(answer, { ...entryOf('create', row), details: { format, forward_url, forward_route_id } });
  });
}

/** Naming one target takes the other away. @throws Refusal not_found, validation_error, conflict, forbidden or role_denied to call the route */
export async function updateInbound(ctx: Ctx, { id, ...input }: z.output<typeof UpdateInboundWebhook>) {
  await checkTarget(ctx, input);
  return mutate(ctx, async (tx) => {
    const before = await lockedInbound(tx, ctx, id);
    const format = input.format ?? (before.format as InboundFormat);
    // A format that isn't custom has no header of its own: leaving one takes it along.
    const left = format === 'custom' ? before.header_name : null;
    const header_name = input.header_name === undefined ? left : input.header_name;
    checkHeader(format, header_name);
    checkReplay(format, input);
    await checkRoute(tx, ctx, input.forward_route_id ?? null);
    if (input.name !== undefined && input.name !== before.name) await checkName(tx, ctx, input.name);
    const target = input.forward_url ? { forward_route_id: null } : input.forward_route_id ? { forward_url: null } : {};
    const { forward_route_id = before.forward_route_id } = { ...input, ...target };
    const stands = forward_route_id !== before.forward_route_id || (input.enabled === true && !before.enabled);
    const authority = stands ? { authority: await standingBehind(ctx, forward_route_id) } : {};
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(before, input, INBOUND_PROTECTIONS));
    const after = await tx.inbound_webhooks.update({
      where: { id: before.id },
      data: {
        ...input,
        ...target,
        ...authority,
        ...(REPEATABLE.has(format) ? {} : { allow_duplicates: false }),
        header_name,
        updated_at: ctx.now,
      },
    });
    const [first, ...more] = entriesOf(before, after);
    const answer = view(after, await baseUrl(tx, ctx));
    return first ? audited(answer, first, more) : unchanged(answer);
  });
}

/** Which changes let through deliveries that were refused. */
export const INBOUND_PROTECTIONS: Looser<Omit<z.output<typeof UpdateInboundWebhook>, 'id'>> = {
  name: 'harmless',
  description: 'harmless',
  // Another format proves another thing with the same secret.
  format: changed,
  header_name: 'harmless',
  replay_window_seconds: raised,
  allow_duplicates: turnedOn,
  forward_url: 'harmless',
  forward_route_id: 'harmless',
  enabled: 'harmless',
};

/** What it has received stays in the request log. @throws Refusal not_found */
export const deleteInbound = (ctx: Ctx, { id }: { id: string }) =>
  mutate(ctx, async (tx) => {
    const row = await lockedInbound(tx, ctx, id);
    await tx.inbound_webhooks.delete({ where: { id: row.id } });
    return audited({ deleted: true as const }, entryOf('delete', row));
  });

export const entryOf = (action: string, { id, name }: Pick<InboundRow, 'id' | 'name'>): AuditEntry => ({
  ...{ action, resource_type: 'inbound_webhook', resource_id: id, name },
});

const CHANGEABLE = [
  'name',
  'description',
  'format',
  'header_name',
  'replay_window_seconds',
  'allow_duplicates',
  'forward_url',
  'forward_route_id',
];

/** Turning it on or off is an entry of its own. */
function entriesOf(before: InboundRow, after: InboundRow): AuditEntry[] {
  const changes = [
    ...changesOf(before, after, CHANGEABLE),
    ...(isDeepStrictEqual(before.authority, after.authority) ? [] : [{ field: 'authority', changed: true as const }]),
  ];
  return [
    ...(before.enabled === after.enabled ? [] : [entryOf(after.enabled ? 'enable' : 'disable', after)]),
    ...(changes.length > 0 ? [{ ...entryOf('update', after), changes }] : []),
  ];
}

function checkHeader(format: InboundFormat, name: string | null): void {
  if (format === 'custom' && name === null) throw invalid('header_name', 'is required for format custom');
  if (format !== 'custom' && name !== null) throw invalid('header_name', 'is only for format custom');
}

type Replay = { replay_window_seconds?: number | undefined; allow_duplicates?: boolean | undefined };

function checkReplay(format: InboundFormat, { replay_window_seconds, allow_duplicates }: Replay): void {
  if (replay_window_seconds !== undefined && !TIMED.has(format))
    throw invalid('replay_window_seconds', `is not for format ${format}, which signs no timestamp`);
  if (allow_duplicates !== undefined && !REPEATABLE.has(format))
    throw invalid('allow_duplicates', `is not for format ${format}, whose senders sign each try anew: leave it out`);
}

type Target = { forward_url?: string | null | undefined; forward_route_id?: string | null | undefined };

/** Names are judged now and addresses at every call. @throws Refusal validation_error */
async function checkTarget(ctx: Ctx, { forward_url, forward_route_id }: Target): Promise<void> {
  if (!forward_url) return;
  if (forward_route_id) throw invalid('forward_route_id', "can't be set together with forward_url");
  const { problem, warnings } = await checkUrl(forward_url, ctx);
  if (problem !== null) throw invalid('forward_url', problem);
  ctx.warnings.push(...warnings);
}

async function checkRoute(tx: Tx, ctx: Ctx, id: string | null): Promise<void> {
  if (id !== null && !(await tx.routes.findFirst({ where: { ...own(ctx), id }, select: { id: true } })))
    throw invalid('forward_route_id', "names a route that doesn't exist in this space");
}

/**
 * The caller, who lets senders call the route from now on; null without a route. Whoever knows the secret gets what the upstream answers, so a receiver
 * gives nobody a route that they may not call. @throws Refusal forbidden, role_denied
 */
export async function standingBehind(ctx: Ctx, routeId: string | null) {
  if (routeId === null) return Prisma.DbNull;
  await assertMayCall(ctx, [{ id: routeId }], 'an inbound webhook');
  return authorityOf(ctx) ?? Prisma.DbNull;
}

async function checkName(tx: Tx, ctx: Ctx, name: string): Promise<void> {
  if (await tx.inbound_webhooks.findFirst({ where: { ...own(ctx), name }, select: { id: true } }))
    throw new Refusal('conflict', `There is an inbound webhook named ${name} already.`);
}

/** Under which the space has its receivers. */
async function baseUrl(tx: Tx, ctx: Ctx): Promise<string> {
  const { slug } = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true } });
  return `${env.PUBLIC_HOOKS_URL}/in/${ctx.sandbox ? 'sandbox-' : ''}${slug}`;
}

const view = ({ value_ct: _, cek_wrapped: _k, tmk_version: _v, ...row }: InboundRow, base: string) => ({
  ...row,
  format: row.format as InboundFormat,
  replay_window_seconds: TIMED.has(row.format as InboundFormat) ? row.replay_window_seconds : null,
  allow_duplicates: REPEATABLE.has(row.format as InboundFormat) ? row.allow_duplicates : null,
  url: `${base}/${row.name}`,
});
