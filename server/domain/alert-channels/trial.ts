import { requireFeature } from '#server/domain/plans/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import { env } from '#server/platform/env.ts';
import { limitTests } from '#server/platform/test-limit.ts';
import { type ChannelKind, PAID_KINDS } from './kinds.shared.ts';
import type { AlertMessage } from './message.ts';
import { tell } from './sending.ts';
import { type ChannelRow, channelById } from './store.ts';

const held = processState('alert-channel-tests', (): { http?: OutboundHttp } => ({}));
const http = (): OutboundHttp => (held.http ??= openHttp({ connections: 4, connectTimeoutMs: 5_000 }));

/** Tells a channel that this is a test, at once and without retries; one that is turned off too. @throws Refusal not_found, rate_limited, plan_feature */
export async function testChannel(ctx: Ctx, { id }: { id: string }) {
  const channel = await read(ctx, (tx) => channelById(tx, ctx, id));
  if (PAID_KINDS.includes(channel.kind as ChannelKind)) requireFeature(ctx, 'sms_slack_alerts');
  await limitTests(ctx, 'alert-test', { what: 'tests of alert channels', instead: 'the receiver' });
  return tryChannel(ctx, channel, await testMessage(ctx));
}

/** How a channel took a message. */
export async function tryChannel(ctx: Ctx, channel: ChannelRow, message: AlertMessage) {
  const started = performance.now();
  const { outcome, message: error } = await tell(http(), channel, message, { id: newId(), delivery_id: newId(), attempt: 1, at: ctx.now });
  return {
    ...{ channel_id: channel.id, name: channel.name, ok: outcome.result === 'delivered', status: outcome.status ?? null, error },
    latency_ms: Math.round(performance.now() - started),
  };
}

/** A message that says it is a test; `about` is the alert that it stands for. */
export async function testMessage(ctx: Ctx, about: Partial<AlertMessage> = {}): Promise<AlertMessage> {
  const tenant = await read(ctx, (tx) =>
    tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } }),
  );
  const space = spaceOf(ctx.sandbox);
  return {
    ...{ kind: 'test', incident_id: null, alert_id: null, alert: 'Test of a channel', type: 'test', severity: 'low', subject: null },
    ...{ condition: 'Somebody pressed Test', value: 0, peak: 0, threshold: 0, unit: '', started_at: ctx.now.toISOString() },
    ...{ resolved_at: null, sample_request_ids: [], workspace: tenant.name, space },
    link: `${env.PUBLIC_ADMIN_URL}/${tenant.slug}/${space}/alerts`,
    ...about,
  };
}
