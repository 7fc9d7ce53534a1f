import type { Ctx } from '#server/kernel/context.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { sql } from '#server/platform/sql.ts';
import { take } from '#server/platform/throttle.ts';
import { MAX_FAILED_ATTEMPTS } from './schema.ts';

/** Counts a spend of the right token with a wrong payload or action. The last one burns the token. */
export async function attemptFailed(ctx: Ctx, id: string): Promise<void> {
  await sql().query(
    `update client_tokens set failed_attempts = failed_attempts + 1, burned_at = case when failed_attempts + 1 >= $2 then $3::timestamptz end
     where id = $1 and consumed_at is null and burned_at is null and revoked_at is null`,
    [id, MAX_FAILED_ATTEMPTS, ctx.now],
  );
}

/** An audit entry of a refused spend: at most one per token and reason in a minute, so that refused pages can't fill the log. */
export async function recordRefusal(ctx: Ctx, id: string, reason: string): Promise<void> {
  const { allowed } = await take({ what: 'client-token-refused', subject: `${id} ${reason}`, limit: 1, window_sec: 60 }, ctx.now);
  if (!allowed) return;
  const origin = ctx.actor.type === 'client_token' ? ctx.actor.origin : null;
  await mutate(ctx, async () =>
    audited(undefined, {
      action: 'update',
      resource_type: 'client_token',
      resource_id: id,
      details: { outcome: 'refused', reason, ip: ctx.ip, origin },
    }),
  );
}
