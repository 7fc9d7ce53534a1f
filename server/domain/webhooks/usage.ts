import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { wholeList } from '#server/kernel/page.ts';
import type { WebhookRef } from './schema.ts';
import { webhookById } from './store.ts';

type Usage = { id: string; delivered: number; failed: number; failing_since: Date | null; disabled_reason: string | null };

/** The attempts of the last 24 hours of each webhook. */
export const usageOfWebhooks = (ctx: Ctx) =>
  read(ctx, async (tx) =>
    wholeList(
      await tx.$queryRaw<Usage[]>`
        select w.id::text, coalesce(a.delivered, 0) as delivered, coalesce(a.failed, 0) as failed, w.failing_since, w.disabled_reason
        from webhooks w left join (
          select webhook_id, (count(*) filter (where success))::int as delivered, (count(*) filter (where not success))::int as failed from webhook_attempts
          where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and executed_at > ${ctx.now}::timestamptz - interval '24 hours' group by 1) a on a.webhook_id = w.id
        where w.tenant_id = ${ctx.tenant_id}::uuid and w.sandbox = ${ctx.sandbox} order by w.created_at desc limit 1000`,
    ),
  );

type Day = { day: string; delivered: number; failed: number; p50_ms: number | null; p95_ms: number | null };

/** The attempts of the last 14 days by day of UTC, as far as the plan keeps them. @throws Refusal not_found */
export const statsOfWebhook = (ctx: Ctx, { id }: z.output<typeof WebhookRef>) =>
  read(ctx, async (tx) => {
    const webhook = await webhookById(tx, ctx, id);
    const days = await tx.$queryRaw<Day[]>`
      select to_char(d.day, 'YYYY-MM-DD') as day, (count(a.id) filter (where a.success))::int as delivered, (count(a.id) filter (where not a.success))::int as failed,
        round(percentile_cont(0.5) within group (order by a.response_time_ms))::int as p50_ms, round(percentile_cont(0.95) within group (order by a.response_time_ms))::int as p95_ms
      from generate_series(date_trunc('day', ${ctx.now}::timestamptz at time zone 'UTC') - interval '13 days', date_trunc('day', ${ctx.now}::timestamptz at time zone 'UTC'), interval '1 day') as d(day)
      left join webhook_attempts a on a.webhook_id = ${webhook.id}::uuid and a.executed_at >= d.day at time zone 'UTC' and a.executed_at < (d.day + interval '1 day') at time zone 'UTC'
      group by d.day order by d.day`;
    return { days };
  });
