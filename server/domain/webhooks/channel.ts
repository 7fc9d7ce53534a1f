import type { PoolClient } from 'pg';
import type { Attempt, Channel, Ended } from '#server/domain/deliveries/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import { db } from '#server/platform/db.ts';
import { disableWebhook } from './health.ts';
import { sealText } from './sealing.ts';
import { type Sent, send } from './sending.ts';

/** As many sockets to one origin as a workspace may have attempts in flight: several of its webhooks may share a host. */
const CONNECTIONS = 64;

/** How the delivery engine sends to webhooks. What is kept of an attempt commits with the end of the attempt. */
export function webhookChannel(http?: OutboundHttp): Channel {
  let out = http;
  return {
    async deliver(attempt, signal) {
      out ??= openHttp({ connections: CONNECTIONS });
      const sent = await send(out, attempt, { signal });
      if (!sent) return { result: 'dropped' };
      // Before the attempt is recorded: should this process die in between, the next attempt finds the webhook disabled.
      if (sent.response_status === 410) await disableWebhook(db(), { ...attempt, id: attempt.destination_id }, 'gone', sent.executed_at);
      const sealed = await sealedOf(attempt, sent);
      return { ...sent.outcome, record: (client, ended) => record(client, attempt, sent, sealed, ended) };
    },
  };
}

type Sealed = Awaited<ReturnType<typeof sealText>> | null;

/** Without the workspace's key the log goes without headers and answer. */
const sealedOf = (attempt: Attempt, { kept }: Sent): Promise<Sealed> =>
  sealText(attempt, 'webhook_payload', JSON.stringify(kept), newId()).catch(() => null);

/** The row of the log, and the counters of the webhook. */
async function record(client: PoolClient, attempt: Attempt, sent: Sent, sealed: Sealed, ended: Ended): Promise<void> {
  const { tenant_id, sandbox, destination_id, delivery_id, event, trigger, number } = attempt;
  const ok = ended.state === 'succeeded';
  await client.query(RECORD, [
    ...[sealed?.id ?? newId(), tenant_id, sandbox, destination_id, delivery_id, event.id, event.type, trigger, number],
    ...[sent.http_method, sent.target_url, sent.response_status, sent.response_time_ms, ok, sent.error_code, sent.error_message],
    ...[ended.next_attempt_at, sealed?.value_ct ?? null, sealed?.cek_wrapped ?? null, sealed?.tmk_version ?? null, sent.executed_at],
    ended.state,
  ]);
}

const RECORD = `
  with counted as (
    update webhooks set last_triggered_at = greatest(last_triggered_at, $21),
      last_success_at = case when $14 then greatest(last_success_at, $21) else last_success_at end,
      last_failure_at = case when $14 then last_failure_at else greatest(last_failure_at, $21) end,
      last_error = case when $14 then last_error else $15 end,
      success_count = success_count + ($22 = 'succeeded')::int,
      failure_count = failure_count + ($22 = 'exhausted')::int,
      consecutive_failures = case $22 when 'succeeded' then 0 when 'exhausted' then consecutive_failures + 1 else consecutive_failures end,
      failing_since = case $22 when 'succeeded' then null when 'exhausted' then coalesce(failing_since, $21) else failing_since end,
      warned_at = case when $22 = 'succeeded' then null else warned_at end
    where id = $4 returning id)
  insert into webhook_attempts (id, tenant_id, sandbox, webhook_id, delivery_id, event_id, event_type, trigger, attempt, http_method, target_url,
    response_status, response_time_ms, success, error_code, error_message, next_attempt_at, value_ct, cek_wrapped, tmk_version, executed_at)
  select $1::uuid, $2::uuid, $3::boolean, id, $5::uuid, $6::uuid, $7::text, $8::text, $9::int, $10::text, $11::text, $12::int, $13::int, $14::boolean, $15::text, $16::text, $17::timestamptz, $18::bytea, $19::bytea, $20::int, $21::timestamptz
  from counted`;
