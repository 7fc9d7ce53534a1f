import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { wholeList } from '#server/kernel/page.ts';

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
