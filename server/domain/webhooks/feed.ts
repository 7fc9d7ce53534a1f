import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

type Row = {
  txid: bigint;
  id: string;
  webhook_id: string;
  webhook_name: string;
  event_id: string;
  event_type: string;
  delivery_id: string;
  trigger: string;
  attempt: number;
  http_method: string | null;
  target_url: string | null;
  response_status: number | null;
  response_time_ms: number | null;
  success: boolean;
  error_code: string | null;
  executed_at: Date;
};

/** Rows of one transaction are never torn apart: it writes at most a hundred. */
const MOST_OF_ONE = 200;

/**
 * Attempts after a place of the feed, whole transactions in their order, up to about `limit`; none that an open transaction could still precede. A place is
 * the number of a transaction.
 */
export async function settledAttempts(tx: Tx, ctx: Ctx, { after, limit }: { after: bigint; limit: number }) {
  const { tenant_id, sandbox } = own(ctx);
  const rows = await tx.$queryRaw<Row[]>`
    select a.txid, a.id::text, a.webhook_id::text, w.name as webhook_name, a.event_id::text, a.event_type, a.delivery_id::text, a.trigger, a.attempt,
      a.http_method, a.target_url, a.response_status, a.response_time_ms, a.success, a.error_code, a.executed_at
    from webhook_attempts a join webhooks w on w.id = a.webhook_id
    where a.tenant_id = ${tenant_id}::uuid and a.sandbox = ${sandbox} and a.txid > ${after} and a.txid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    order by a.txid, a.id limit ${limit + MOST_OF_ONE}`;
  const cut = rows[limit]?.txid;
  const whole = cut === undefined ? rows : rows.filter(({ txid }) => txid < cut || txid === rows[0]?.txid);
  return whole.map(({ txid, ...data }) => ({ position: txid, at: data.executed_at, data: { ...data, retry_count: data.attempt - 1 } }));
}

/** The place of now: what is written from here on comes after it. */
export async function attemptsHorizon(tx: Tx): Promise<bigint> {
  const [row] = await tx.$queryRaw<{ at: bigint }[]>`select pg_current_xact_id()::text::bigint as at`;
  return row?.at ?? 0n;
}
