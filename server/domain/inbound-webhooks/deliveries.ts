import type { Delivery } from '#server/crypto/transit/webhook-verify.ts';
import { SANDBOX_LOG_DAYS, type Windows } from '#server/domain/retention/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { mutate, unchanged } from '#server/kernel/mutate.ts';
import { sql } from '#server/platform/sql.ts';
import { MOST_WINDOW_SECONDS } from './formats.shared.ts';
import type { InboundRow } from './store.ts';

// What receivers have taken. A signature proves who wrote a call and not that it comes for the first time: whoever records one can send it again. So a delivery
// is remembered for as long as its signature can hold; where no time is signed, for as long as the request log keeps the call.

/** `duplicate`: the target took it before. `busy`: another call forwards it at the moment. */
export type Standing = 'claimed' | 'duplicate' | 'busy';

/** A call that is forwarded for longer has died: its process ended, and the sender's next try takes its place. */
const CLAIM_MS = 60_000;

/** Claims a verified delivery for this call, before it is forwarded. */
export const claimDelivery = (
  ctx: Ctx,
  { id }: InboundRow,
  { digest, seconds }: Delivery,
  requestId: string,
  now: Date,
): Promise<Standing> =>
  mutate(ctx, async (tx) => {
    // The window of the receiver may be made longer later, so what counts is the longest that there is.
    const until = seconds === null ? null : new Date((seconds + MOST_WINDOW_SECONDS) * 1_000);
    const claimed = await tx.$executeRaw`
      insert into inbound_deliveries as d (tenant_id, sandbox, inbound_webhook_id, digest, request_id, claimed_at, signed_until)
      values (${ctx.tenant_id}::uuid, ${ctx.sandbox}, ${id}::uuid, ${digest}, ${requestId}::uuid, ${now}, ${until})
      on conflict (inbound_webhook_id, digest) do update set request_id = excluded.request_id, claimed_at = excluded.claimed_at, signed_until = greatest(d.signed_until, excluded.signed_until)
        where not d.taken and d.claimed_at < ${new Date(now.getTime() - CLAIM_MS)}`;
    if (claimed === 1) return unchanged('claimed' as const);
    // Sent again it was signed again, and that signature holds for longer.
    const [row] = await tx.$queryRaw<{ taken: boolean }[]>`
      update inbound_deliveries set signed_until = greatest(signed_until, ${until}::timestamptz)
      where inbound_webhook_id = ${id}::uuid and digest = ${digest} returning taken`;
    return unchanged(row?.taken ? ('duplicate' as const) : ('busy' as const));
  });

/** What became of a claim: a delivery that the target didn't take may come again. */
export const settleDelivery = (ctx: Ctx, { id }: InboundRow, { digest }: Delivery, requestId: string, taken: boolean): Promise<void> =>
  mutate(ctx, async (tx) => {
    const where = { inbound_webhook_id: id, digest: new Uint8Array(digest), request_id: requestId };
    if (taken) await tx.inbound_deliveries.updateMany({ where, data: { taken } });
    else await tx.inbound_deliveries.deleteMany({ where });
    return unchanged(undefined);
  });

const BATCH = 5_000;
const DAY = 86_400_000;

/** Forgets deliveries whose signature no longer holds, and, where it holds for ever, those that the request log has forgotten. @returns how many */
export async function pruneDeliveries(windows: readonly Windows[], now: Date): Promise<number> {
  let removed = await deleted('signed_until < $1', now);
  for (const { tenant_id, log_days } of windows) {
    const spaces = [{ sandbox: true, days: SANDBOX_LOG_DAYS }, ...(log_days === null ? [] : [{ sandbox: false, days: log_days }])];
    for (const { sandbox, days } of spaces)
      removed += await deleted(
        'tenant_id = $2 and sandbox = $3 and signed_until is null and claimed_at < $1',
        new Date(now.getTime() - days * DAY),
        tenant_id,
        sandbox,
      );
  }
  return removed;
}

async function deleted(condition: string, before: Date, ...values: unknown[]): Promise<number> {
  const text = `delete from inbound_deliveries where ctid = any(array(select ctid from inbound_deliveries where ${condition} limit ${BATCH}))`;
  for (let removed = 0; ; ) {
    const { rowCount } = await sql().query(text, [before, ...values]);
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return removed;
  }
}
