import type { PoolClient } from 'pg';
import type { EventType } from '#server/domain/events/catalogue.shared.ts';
import { EVENT_LIFE_MS } from '#server/domain/events/payload.ts';
import type { Tally } from './tally.ts';

type CallEvent = Extract<EventType, `request.${string}`>;

export const CALL_EVENTS: readonly CallEvent[] = [
  'request.received',
  'request.success',
  'request.redirect',
  'request.client_error',
  'request.server_error',
  'request.timeout',
  'request.error',
  'request.completed',
];

/** Payloads are written beside the log, a moment later: an event of a call that keeps them waits for that. */
const PAYLOADS_MS = 1_500;

/**
 * Raises the events of calls in the transaction that wrote their rows (interface rule 60 §3), so that they exist together or not at all. The database makes
 * them out of the rows it has just got: a row that was already there raises nothing again, and this process, whose CPU calls wait for, does nothing for
 * each row. Where nobody subscribes to calls, which is nearly everywhere, it is one look at an index for a batch. The worker seals what is in them.
 */
export async function raiseCallEvents(client: PoolClient, tallies: readonly Tally[]): Promise<void> {
  const { rows } = await client.query<{ tenant_id: string }>({
    name: 'call-events-wanted',
    text: WANTED,
    values: [[...new Set(tallies.map(({ tenant_id }) => tenant_id))], CALL_EVENTS],
  });
  if (rows.length === 0) return;
  const wanted = rows.map(({ tenant_id }) => tenant_id);
  const minutes = tallies.map(({ minute }) => minute).sort();
  await client.query({ name: 'call-events', text: RAISE, values: [wanted, CALL_EVENTS, `${minutes[0]}:00Z`, `${minutes.at(-1)}:00Z`] });
}

const WANTED =
  'select distinct tenant_id from event_subscriptions where enabled and tenant_id = any($1::uuid[]) and event_types && $2::text[]';

/** Exactly one of the classes, `completed`, and `received` and `error` where they apply. A refusal of ours was not received; status is null when the caller went away. */
const TYPES_OF_ROW = `array_remove(array[
      case when r.attempts > 0 then 'request.received' end,
      case when r.error = 'upstream_timeout' then 'request.timeout' else
        case r.status_code / 100 when 2 then 'request.success' when 3 then 'request.redirect' when 4 then 'request.client_error' when 5 then 'request.server_error' end end,
      case when r.error = 'upstream_timeout' or coalesce(r.status_code / 100, 0) <> 2 then 'request.error' end,
      'request.completed'], null)`;

/** Whether a list of the filter `s.filter` is empty or not there. */
const noList = (name: string): string => `coalesce(jsonb_array_length(s.filter -> '${name}'), 0) = 0`;

/** What `passes` (domain/deliveries/matching.ts) says of an event of a call. */
const PASSES = `(s.filter is null or (
      (${noList('routes')} or s.filter -> 'routes' ? r.route_id::text)
      and (${noList('status_codes')} or t.status is null or s.filter -> 'status_codes' ?| array[t.status::text, t.status / 100 || 'xx'])
      and (${noList('methods')} or coalesce(s.filter -> 'methods' ? r.method, false))
      and (${noList('environments')} or coalesce(s.filter -> 'environments' ? r.environment, false))))`;

/** The data of the event as far as the row has it: masked paths, and neither headers nor bodies. */
const CALL = `jsonb_build_object(
      'route_id', r.route_id, 'route_name', r.route_name, 'environment', r.environment, 'request_id', r.request_id,
      'request', jsonb_build_object('method', r.method, 'path', coalesce(split_part(r.path, '?', 1), '/'), 'ip', r.src_ip)
        || case when r.path like '%?%' then jsonb_build_object('query', substr(r.path, strpos(r.path, '?') + 1)) else '{}' end,
      'response', jsonb_build_object('status', t.status, 'latency_ms', case when t.received then null else r.latency_ms end)
        || case when t.received then '{}' else jsonb_build_object('origin', r.origin, 'error', r.error) end)`;

/**
 * Rows of this transaction lie above the floor of its IDs (migration request_log_ids), and their minutes name the partitions. Tests raise nothing, and neither
 * does a call without a route or whose credential was not accepted: its row names no route.
 */
const RAISE = `
  with wanted as materialized (
    select tenant_id, sandbox, event_types, filter from event_subscriptions where enabled and tenant_id = any($1::uuid[]) and event_types && $2::text[])
  insert into events (id, tenant_id, sandbox, type, source_id, facts, occurred_at, expires_at, dispatch_at)
  select gen_random_uuid(), r.tenant_id, r.sandbox, t.type, r.request_id::text,
    jsonb_build_object('route_id', r.route_id, 'status', t.status, 'method', r.method, 'environment', r.environment, 'call', ${CALL}),
    t.at, t.at + interval '${EVENT_LIFE_MS} milliseconds', now() + case when coalesce(r.payload_flags, 0) <> 0 then ${PAYLOADS_MS} else 0 end * interval '1 millisecond'
  from (select distinct tenant_id, sandbox from wanted) w
  join request_logs r on r.tenant_id = w.tenant_id and r.sandbox = w.sandbox and r.id > current_setting('app.log_floor')::bigint << 11
    and r.ts >= $3::timestamptz and r.ts < $4::timestamptz + interval '1 minute' and r.txid = pg_current_xact_id()::text::bigint
    and r.route_id is not null and r.proxy_mode is distinct from 'test'
  cross join lateral (
    select type, type = 'request.received' as received, case when type = 'request.received' then null else r.status_code end as status,
      r.ts + case when type = 'request.received' then 0 else coalesce(r.latency_ms, 0) end * interval '1 millisecond' as at
    from unnest(${TYPES_OF_ROW}) as type) t
  where exists (select from wanted s where s.tenant_id = r.tenant_id and s.sandbox = r.sandbox and t.type = any(s.event_types) and ${PASSES})`;
