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
      return { ...sent.outcome, kept: { attempt, sent, sealed } satisfies Kept };
    },
    record: (client, entries) => record(client, entries as readonly Entry[]),
  };
}

type Sealed = Awaited<ReturnType<typeof sealText>> | null;

/** Without the workspace's key the log goes without headers and answer. */
const sealedOf = (attempt: Attempt, { kept }: Sent): Promise<Sealed> =>
  sealText(attempt, 'webhook_payload', JSON.stringify(kept), newId()).catch(() => null);

type Kept = { attempt: Attempt; sent: Sent; sealed: Sealed };
type Entry = { ended: Ended; kept: Kept };

/** The rows of the log, and the counters of their webhooks: of those that are still there. */
async function record(client: PoolClient, entries: readonly Entry[]): Promise<void> {
  await client.query({ name: 'record-webhook-attempts', text: RECORD, values: [JSON.stringify(entries.map(rowOf))] });
}

const hex = (bytes: Uint8Array | undefined): string | null => (bytes ? `\\x${Buffer.from(bytes).toString('hex')}` : null);

function rowOf({ ended, kept: { attempt, sent, sealed } }: Entry, order: number) {
  const { tenant_id, sandbox, destination_id, delivery_id, event, trigger, number } = attempt;
  const { http_method, target_url, response_status, response_time_ms, error_code, error_message, executed_at } = sent;
  return {
    ...{ nth: order, id: sealed?.id ?? newId(), tenant_id, sandbox, webhook_id: destination_id, delivery_id, event_id: event.id },
    ...{ event_type: event.type, trigger, attempt: number, http_method, target_url, response_status, response_time_ms },
    ...{ success: ended.state === 'succeeded', error_code, error_message, next_attempt_at: ended.next_attempt_at, executed_at },
    ...{
      value_ct: hex(sealed?.value_ct),
      cek_wrapped: hex(sealed?.cek_wrapped),
      tmk_version: sealed?.tmk_version ?? null,
      state: ended.state,
    },
  };
}

/**
 * Webhooks are locked in the order of their IDs, always, so that two workers never wait for each other. Failures in a row are those that ended after the last
 * success of the batch.
 */
const RECORD = `
  with came as (
    select * from jsonb_to_recordset($1::jsonb) as a(nth int, id uuid, tenant_id uuid, sandbox boolean, webhook_id uuid, delivery_id uuid, event_id uuid,
      event_type text, trigger text, attempt int, http_method text, target_url text, response_status int, response_time_ms int, success boolean, error_code text,
      error_message text, next_attempt_at timestamptz, executed_at timestamptz, value_ct bytea, cek_wrapped bytea, tmk_version int, state text)),
  held as materialized (select id from webhooks where id in (select webhook_id from came) order by id for no key update),
  ranked as (select c.*, max(nth) filter (where success) over (partition by webhook_id) as last_good, max(nth) over (partition by webhook_id) as last from came c),
  sums as (
    select webhook_id, max(executed_at) as at, max(executed_at) filter (where success) as good_at, max(executed_at) filter (where not success) as bad_at,
      count(*) filter (where success) as good, count(*) filter (where state = 'exhausted') as bad, bool_or(success) as any_good,
      count(*) filter (where state = 'exhausted' and nth > coalesce(last_good, -1)) as bad_since,
      min(executed_at) filter (where state = 'exhausted' and nth > coalesce(last_good, -1)) as bad_from,
      max(error_code) filter (where nth = last and not success) as error
    from ranked group by 1),
  counted as (
    update webhooks w set last_triggered_at = greatest(last_triggered_at, s.at), last_success_at = greatest(last_success_at, s.good_at),
      last_failure_at = greatest(last_failure_at, s.bad_at), last_error = coalesce(s.error, last_error),
      success_count = success_count + s.good, failure_count = failure_count + s.bad,
      consecutive_failures = case when s.any_good then 0 else consecutive_failures end + s.bad_since,
      failing_since = case when s.any_good then s.bad_from else coalesce(failing_since, s.bad_from) end,
      warned_at = case when s.any_good then null else warned_at end
    from sums s join held on held.id = s.webhook_id where w.id = s.webhook_id returning w.id)
  insert into webhook_attempts (id, tenant_id, sandbox, webhook_id, delivery_id, event_id, event_type, trigger, attempt, http_method, target_url,
    response_status, response_time_ms, success, error_code, error_message, next_attempt_at, value_ct, cek_wrapped, tmk_version, executed_at)
  select c.id, tenant_id, sandbox, webhook_id, delivery_id, event_id, event_type, trigger, attempt, http_method, target_url,
    response_status, response_time_ms, success, error_code, error_message, next_attempt_at, value_ct, cek_wrapped, tmk_version, executed_at
  from came c join counted on counted.id = c.webhook_id`;
