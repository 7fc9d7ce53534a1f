import type { z } from 'zod';
import { EVENT_TYPES } from '#server/domain/events/catalogue.shared.ts';
import { withinPlan } from '#server/domain/plans/service.ts';
import { confirmMove } from '#server/domain/reveals/service.ts';
import { whenSealed } from '#server/domain/secrets/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { originOf } from '#server/kernel/moves.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import { confirmSent, sendsBodiesUnsaid } from './disclosures.ts';
import { CHANNEL, labelOf } from './options.shared.ts';
import { checkAuth, forgetReferences, literalsOf, mayUseSecrets, needsConfig, saveReferences } from './presenting.ts';
import { checkKey, checkRoutes } from './references.ts';
import type { CreateWebhook, ListWebhooks, UpdateWebhook } from './schema.ts';
import { freshSecret, openPresented, type Presented, type Sealed, sealText } from './sealing.ts';
import { backlogOf, lockedWebhook, personOf, saveSubscription, type WebhookRow, webhookById } from './store.ts';
import { checkUrl } from './target.ts';

export { attemptsHorizon, settledAttempts } from './feed.ts';
export { checkUrl } from './target.ts';

/** The event types that a webhook can subscribe to. */
export const eventTypes = () => ({
  event_types: Object.entries(EVENT_TYPES).map(([value, description]) => ({ value, label: labelOf(value), description })),
});

export const listWebhooks = (ctx: Ctx, { enabled, event_type, ...query }: z.output<typeof ListWebhooks>) =>
  read(ctx, async (tx) => {
    const { ids, total } = await listIds(tx, ctx, {
      ...query,
      table: 'webhooks',
      filters: [
        enabled !== undefined && { column: 'enabled', is: enabled, mostly: true },
        event_type !== undefined && { where: (bind) => `${bind(event_type, 'text')} = any(event_types)` },
      ],
    });
    const rows = await tx.webhooks.findMany({ where: { ...own(ctx), id: { in: ids } } });
    return pageOf(inOrder(ids, rows as WebhookRow[]), total, query);
  });

export const getWebhook = (ctx: Ctx, { id }: { id: string }) => read(ctx, async (tx) => detailOf(tx, ctx, await webhookById(tx, ctx, id)));

async function detailOf(tx: Tx, ctx: Ctx, row: WebhookRow) {
  return { ...row, route_filter: row.route_filter.length > 0 ? row.route_filter : null, ...(await backlogOf(tx, ctx, row.id)) };
}

/** @throws Refusal validation_error, plan_limit, forbidden for secrets or a key that the caller can't use, tenant_sealed */
export async function createWebhook(ctx: Ctx, { auth_config, request_headers, route_filter, ...input }: z.output<typeof CreateWebhook>) {
  const auth_type = input.auth_type ?? 'none';
  const given: Given = auth_config ?? {};
  const presented = { auth_config: checkAuth(auth_type, given), request_headers: request_headers ?? {} };
  checkHeaderName(input.hmac_format ?? 'legacy', input.hmac_header_name ?? null);
  await acceptUrl(ctx, input.url);
  const secret_key = given.secret ?? freshSecret(input.hmac_format ?? 'legacy');
  const [secret, sealed] = await Promise.all([sealText(ctx, 'webhook_secret', secret_key), sealPresented(ctx, presented)]).catch(
    whenSealed,
  );
  return mutate(ctx, async (tx) => {
    await withinPlan(tx, ctx, 'webhooks');
    await checkRoutes(tx, ctx, route_filter ?? []);
    await checkKey(tx, ctx, input.hmac_key_id ?? null);
    const uses = await mayUseSecrets(tx, ctx, presented);
    const { include_request_body = sendsBodiesUnsaid(ctx), include_response_body = false, include_headers = false } = input;
    const sent = { include_request_body, include_response_body, include_headers };
    await confirmSent(tx, ctx, null, { ...input, ...sent });
    const enabled = input.enabled ?? true;
    const row = (await tx.webhooks.create({
      data: {
        ...own(ctx),
        ...input,
        ...sent,
        id: newId(),
        auth_type,
        enabled,
        route_filter: route_filter ?? [],
        has_request_headers: Object.keys(presented.request_headers).length > 0,
        disabled_reason: enabled ? null : 'manual',
        disabled_at: enabled ? null : ctx.now,
        created_by: personOf(ctx),
        created_at: ctx.now,
        updated_at: ctx.now,
      },
    })) as WebhookRow;
    await tx.webhook_secrets.create({ data: { ...own(ctx), ...secret, webhook_id: row.id, created_at: ctx.now } });
    if (sealed) await tx.webhook_auths.create({ data: { ...own(ctx), ...sealed, webhook_id: row.id, created_at: ctx.now } });
    await saveReferences(tx, ctx, row.id, uses);
    await saveSubscription(tx, ctx, row);
    const { url, event_types, hmac_format } = row;
    return audited({ ...row, secret_key }, entryOf('create', row, { url, event_types, auth_type, hmac_format }));
  });
}

type Given = Presented['auth_config'] & { secret?: string };

/** Null when there is nothing to keep. */
const sealPresented = (ctx: Ctx, presented: Presented): Promise<Sealed | null> =>
  Object.keys(presented.auth_config).length + Object.keys(presented.request_headers).length === 0
    ? Promise.resolve(null)
    : sealText(ctx, 'webhook_auth', JSON.stringify(presented));

async function acceptUrl(ctx: Ctx, url: string): Promise<void> {
  const { problem, warnings } = await checkUrl(url, ctx);
  if (problem !== null) throw invalid('url', problem);
  ctx.warnings.push(...warnings);
}

function checkHeaderName(format: string, name: string | null): void {
  if (format === 'custom' && name === null) throw invalid('hmac_header_name', 'is required for hmac_format custom');
  if (format !== 'custom' && name !== null) throw invalid('hmac_header_name', 'is only for hmac_format custom');
}

/**
 * Changes what is given; `auth_config` and `request_headers` are replaced as a whole. Turning it on again forgets why it was off. What is written out in
 * them never follows to another host, unless it is given again or its move confirmed. The signing secret is never sent, and a secret that is referred to
 * has a pin of its own. @throws Refusal not_found, conflict, what `confirmMove` throws, and as createWebhook
 */
export async function updateWebhook(ctx: Ctx, { id, auth_config, request_headers, ...input }: z.output<typeof UpdateWebhook>) {
  if (input.url !== undefined) await acceptUrl(ctx, input.url);
  const presents = auth_config !== undefined || request_headers !== undefined || input.auth_type !== undefined;
  return mutate(ctx, async (tx) => {
    const before = await lockedWebhook(tx, ctx, id);
    const auth_type = input.auth_type ?? before.auth_type;
    if (input.auth_type !== undefined && auth_type !== before.auth_type && needsConfig(auth_type) && auth_config === undefined)
      throw invalid('auth_config', `is required when auth_type becomes ${auth_type}`);
    const held = await presentedOf(tx, ctx, before);
    const kept = auth_type === before.auth_type ? held.auth_config : {};
    const presented = {
      auth_config: auth_config === undefined ? kept : checkAuth(auth_type, auth_config as Given),
      request_headers: request_headers === undefined ? held.request_headers : (request_headers ?? {}),
    };
    // A format that isn't custom has no header name: leaving one takes it along.
    const hmac_format = input.hmac_format ?? before.hmac_format;
    const left = hmac_format === 'custom' ? before.hmac_header_name : null;
    const hmac_header_name = input.hmac_header_name === undefined ? left : input.hmac_header_name;
    checkHeaderName(hmac_format, hmac_header_name);
    if (input.route_filter !== undefined) await checkRoutes(tx, ctx, input.route_filter);
    if (input.hmac_key_id !== undefined && input.hmac_key_id !== before.hmac_key_id) await checkKey(tx, ctx, input.hmac_key_id);
    const move = await confirmMove(tx, ctx, {
      moved: originOf(input.url ?? before.url) === originOf(before.url) ? [] : ['url'],
      kept: literalsOf({
        auth_config: auth_config === undefined ? kept : {},
        request_headers: request_headers === undefined ? held.request_headers : {},
      }),
      again: ['auth_config', 'request_headers'],
      reveal: { class: 'B', policy: 'webhook:reveal_secret' },
      about: [before],
      route: 'webhooks.update',
    });
    const { url = before.url, event_types = before.event_types, include_headers = before.include_headers } = input;
    const { include_request_body = before.include_request_body, include_response_body = before.include_response_body } = input;
    const sameReceiver = url === before.url && !presents;
    await confirmSent(tx, ctx, sameReceiver ? before : null, { event_types, include_headers, include_request_body, include_response_body });
    if (presents || (input.url !== undefined && input.url !== before.url))
      await saveReferences(tx, ctx, before.id, await mayUseSecrets(tx, ctx, presented));

    const turned = input.enabled !== undefined && input.enabled !== before.enabled ? input.enabled : null;
    const after = (await tx.webhooks.update({
      where: { id: before.id, ...own(ctx) },
      data: {
        ...input,
        auth_type,
        hmac_format,
        hmac_header_name,
        has_request_headers: Object.keys(presented.request_headers).length > 0,
        ...(turned === null ? {} : turned ? HEALTHY : { disabled_reason: 'manual', disabled_at: ctx.now }),
        updated_at: ctx.now,
      },
    })) as WebhookRow;
    if (presents) await replacePresented(tx, ctx, after.id, presented);
    const secret = (auth_config as Given | undefined)?.secret;
    if (secret !== undefined) await replaceSecret(tx, ctx, after.id, secret);
    await saveSubscription(tx, ctx, after);
    return changed(before, after, { auth_config, request_headers }, move);
  });
}

const HEALTHY = { disabled_reason: null, disabled_at: null, failing_since: null, consecutive_failures: 0, warned_at: null };

async function presentedOf(tx: Tx, ctx: Ctx, { id }: WebhookRow): Promise<Presented> {
  const row = await tx.webhook_auths.findFirst({ where: { ...own(ctx), webhook_id: id } });
  return row ? openPresented(ctx, row).catch(whenSealed) : { auth_config: {}, request_headers: {} };
}

async function replacePresented(tx: Tx, ctx: Ctx, webhook_id: string, presented: Presented): Promise<void> {
  const sealed = await sealPresented(ctx, presented).catch(whenSealed);
  await tx.webhook_auths.deleteMany({ where: { ...own(ctx), webhook_id } });
  if (sealed) await tx.webhook_auths.create({ data: { ...own(ctx), ...sealed, webhook_id, created_at: ctx.now } });
}

/** A secret that the customer gives takes over at once. */
async function replaceSecret(tx: Tx, ctx: Ctx, webhook_id: string, secret: string): Promise<void> {
  const sealed = await sealText(ctx, 'webhook_secret', secret).catch(whenSealed);
  await tx.webhook_secrets.deleteMany({ where: { ...own(ctx), webhook_id } });
  await tx.webhook_secrets.create({ data: { ...own(ctx), ...sealed, webhook_id, created_at: ctx.now } });
  await tx.webhooks.update({ where: { id: webhook_id }, data: { previous_secret_expires_at: null, updated_at: ctx.now } });
}

/** Turning it on or off is an entry of its own; write-only members are named without their values (interface rule 60 §8). */
function changed(before: WebhookRow, after: WebhookRow, writeOnly: Record<string, unknown>, move: Record<string, unknown>) {
  const shown = changesOf(before, after, CHANGEABLE);
  const hidden = Object.entries(writeOnly).flatMap(([field, given]) => (given === undefined ? [] : [{ field, changed: true as const }]));
  const entries: AuditEntry[] = [
    ...(before.enabled === after.enabled
      ? []
      : [entryOf(after.enabled ? 'enable' : 'disable', after, after.enabled ? {} : { reason: 'manual' })]),
    ...(shown.length + hidden.length > 0 ? [{ ...entryOf('update', after, move), changes: [...shown, ...hidden] }] : []),
  ];
  const [first, ...more] = entries;
  return first ? audited(after, first, more) : unchanged(after);
}

const CHANGEABLE = [
  ...[
    'name',
    'url',
    'description',
    'event_types',
    'method',
    'auth_type',
    'route_filter',
    'filters',
    'include_request_body',
    'include_response_body',
  ],
  ...['include_headers', 'timeout_seconds', 'retry_on_failure', 'max_retries', 'hmac_key_id', 'hmac_format', 'hmac_header_name'],
];

export const entryOf = (action: string, { id, name }: Pick<WebhookRow, 'id' | 'name'>, details?: Record<string, unknown>): AuditEntry => ({
  ...{ action, resource_type: 'webhook', resource_id: id, name },
  ...(details === undefined ? {} : { details }),
});

/** With its secrets and its log; what waits for it is dropped. @throws Refusal not_found */
export function deleteWebhook(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await lockedWebhook(tx, ctx, id);
    await tx.event_subscriptions.deleteMany({ where: { ...own(ctx), channel: CHANNEL, destination_id: row.id } });
    await forgetReferences(tx, ctx, row.id);
    await tx.webhooks.delete({ where: { id: row.id, ...own(ctx) } });
    return audited({ deleted: true as const }, entryOf('delete', row));
  });
}
