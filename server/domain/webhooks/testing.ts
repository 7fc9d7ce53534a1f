import type { z } from 'zod';
import { EVENT_LIFE_MS, sealPayload } from '#server/domain/events/service.ts';
import { whenSealed } from '#server/domain/secrets/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { mutate, unchanged } from '#server/kernel/mutate.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import { take } from '#server/platform/throttle.ts';
import { sampleData } from './envelope.ts';
import { CHANNEL } from './options.shared.ts';
import type { TestWebhook } from './schema.ts';
import { sealText } from './sealing.ts';
import { type Sent, send } from './sending.ts';
import { webhookById } from './store.ts';

const PER_MINUTE = 10;
/** A person waits for the answer. */
const MOST_MS = 30_000;

const held = processState('webhook-tests', (): { http?: OutboundHttp } => ({}));
const http = (): OutboundHttp => (held.http ??= openHttp({ connections: 4 }));

/**
 * Sends one test event at once, through the same egress and with the same signature as every delivery, without retries, to a disabled webhook too. It
 * stands in the log. @throws Refusal not_found, rate_limit_exceeded, tenant_sealed
 */
export async function testWebhook(ctx: Ctx, { id, event_type }: z.output<typeof TestWebhook>) {
  const webhook = await read(ctx, (tx) => webhookById(tx, ctx, id));
  await seldom(ctx, webhook.id);
  const { type, data } = sampleData(event_type, ctx.actor.type === 'member' ? 'dashboard' : 'api', ctx.now);
  const event = { id: newId(), type, occurred_at: ctx.now, data };
  const delivery_id = newId();
  const sealed = await sealPayload({ ...own(ctx), id: event.id }, data).catch(whenSealed);
  const attempt = { ...own(ctx), delivery_id, destination_id: webhook.id, number: 1, trigger: 'test' as const, event };
  const sent = await send(http(), attempt, { mostMs: MOST_MS });
  if (!sent) throw new Refusal('not_found', "This resource doesn't exist, or you don't have access to it.");
  const kept = await sealText(ctx, 'webhook_payload', JSON.stringify(sent.kept)).catch(() => null);
  return mutate(ctx, async (tx) => {
    const ok = sent.outcome.result === 'delivered';
    await tx.events.create({
      data: {
        ...own(ctx),
        ...{ id: event.id, type, source_id: webhook.id, occurred_at: ctx.now, dispatch_at: null, ...sealed },
        expires_at: new Date(ctx.now.getTime() + EVENT_LIFE_MS),
      },
    });
    await tx.deliveries.create({
      data: {
        ...own(ctx),
        ...{
          id: delivery_id,
          event_id: event.id,
          channel: CHANNEL,
          destination_id: webhook.id,
          trigger: 'test',
          attempts: 1,
          max_attempts: 1,
        },
        ...{
          state: ok ? 'succeeded' : 'exhausted',
          last_status: sent.response_status,
          last_error: sent.error_code,
          finished_at: new Date(),
        },
      },
    });
    await tx.webhook_attempts.create({
      data: {
        ...own(ctx),
        ...{ id: newId(), ...kept, webhook_id: webhook.id, delivery_id, event_id: event.id, event_type: type, trigger: 'test', attempt: 1 },
        ...rowOf(sent, ok),
      },
    });
    await tx.$executeRaw`
      update webhooks set last_triggered_at = ${sent.executed_at}, last_success_at = case when ${ok} then ${sent.executed_at} else last_success_at end,
        last_failure_at = case when ${ok} then last_failure_at else ${sent.executed_at} end, last_error = case when ${ok} then last_error else ${sent.error_code} end
      where id = ${webhook.id}::uuid and tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
    return unchanged(resultOf(sent));
  });
}

const rowOf = (
  { http_method, target_url, response_status, response_time_ms, error_code, error_message, executed_at }: Sent,
  success: boolean,
) => ({
  ...{ http_method, target_url, response_status, response_time_ms, error_code, error_message, executed_at, success },
});

const resultOf = ({ outcome, response_status, response_time_ms, error_message }: Sent) => ({
  success: outcome.result === 'delivered',
  response_time_ms: response_time_ms ?? 0,
  ...(response_status === null ? {} : { status: response_status }),
  ...(outcome.result === 'delivered' ? {} : { error: error_message ?? 'The test failed.' }),
});

async function seldom(ctx: Ctx, webhookId: string): Promise<void> {
  const rule = { what: 'webhook-test', subject: webhookId, limit: PER_MINUTE, window_sec: 60 };
  const { allowed, retry_after: retryAfter } = await take(rule, ctx.now);
  if (!allowed)
    throw new Refusal('rate_limit_exceeded', `A webhook can be tested ${PER_MINUTE} times a minute. Try again shortly.`, { retryAfter });
}
