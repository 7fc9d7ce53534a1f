import type { PoolClient } from 'pg';
import { type EventFacts, type EventFilter, passes } from '#server/domain/deliveries/matching.ts';
import type { EventType } from '#server/domain/events/catalogue.shared.ts';
import { EVENT_LIFE_MS } from '#server/domain/events/payload.ts';
import { newId } from '#server/kernel/ids.ts';
import type { LogRow } from './row.ts';
import type { Tally } from './tally.ts';

type CallEvent = Extract<EventType, `request.${string}`>;
type Wanted = { tenant_id: string; sandbox: boolean; event_types: string[]; filter: EventFilter | null };

const TYPES: readonly CallEvent[] = [
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
 * Writes the events of calls in the transaction that writes their rows (interface rule 60 §3), so that they exist together or not at all. Where nobody
 * subscribes to calls, which is nearly everywhere, this is one look at an index for a batch, and its rows aren't read. The worker seals what is in them.
 */
export async function raiseCallEvents(client: PoolClient, tallies: readonly Tally[], rows: () => readonly LogRow[]): Promise<void> {
  const tenants = [...new Set(tallies.map(({ tenant_id }) => tenant_id))];
  const { rows: wanted } = await client.query<Wanted>({ name: 'call-events-wanted', text: WANTED, values: [tenants, TYPES] });
  if (wanted.length === 0) return;
  const events = rows().flatMap((row) => {
    const mine = wanted.filter(({ tenant_id, sandbox }) => tenant_id === row.tenant_id && sandbox === row.sandbox);
    return mine.length === 0 || !raises(row) ? [] : eventsOf(row, mine);
  });
  if (events.length > 0) await client.query({ name: 'call-events', text: INSERT, values: [JSON.stringify(events)] });
}

const WANTED = `select tenant_id, sandbox, event_types, filter from event_subscriptions where enabled and tenant_id = any($1::uuid[]) and event_types && $2::text[]`;

const INSERT = `
  insert into events (id, tenant_id, sandbox, type, source_id, facts, occurred_at, expires_at, dispatch_at)
  select id, tenant_id, sandbox, type, source_id, facts, occurred_at, occurred_at + interval '${EVENT_LIFE_MS} milliseconds', now() + wait_ms * interval '1 millisecond'
  from jsonb_to_recordset($1::jsonb) as e(id uuid, tenant_id uuid, sandbox boolean, type text, source_id text, facts jsonb, occurred_at timestamptz, wait_ms int)`;

/** Tests raise nothing, and neither does a call without a route or whose credential was not accepted: its row names no route. */
const raises = ({ route_id, proxy_mode }: LogRow): boolean => route_id !== null && proxy_mode !== 'test';

function eventsOf(row: LogRow, wanted: readonly Wanted[]) {
  const facts: EventFacts = { route_id: row.route_id, status: row.status_code, method: row.method, environment: row.environment };
  return typesOf(row).flatMap((type) => {
    const known = type === 'request.received' ? { ...facts, status: null } : facts;
    if (!wanted.some(({ event_types, filter }) => event_types.includes(type) && passes(type, filter, known))) return [];
    const { tenant_id, sandbox, request_id: source_id, ts } = row;
    const received = type === 'request.received';
    const occurred_at = received ? ts : new Date(Date.parse(ts) + row.latency_ms).toISOString();
    const wait_ms = row.payload_flags ? PAYLOADS_MS : 0;
    return [{ id: newId(), tenant_id, sandbox, type, source_id, occurred_at, wait_ms, facts: { ...known, call: callOf(row, received) } }];
  });
}

/** Exactly one of the classes, `completed`, and `received` and `error` where they apply. */
export function typesOf({ status_code, error, attempts }: Pick<LogRow, 'status_code' | 'error' | 'attempts'>): CallEvent[] {
  const ok = status_code !== null && status_code >= 200 && status_code < 300;
  const timeout = error === 'upstream_timeout';
  const own = timeout ? 'request.timeout' : CLASSES[Math.floor((status_code ?? 0) / 100)];
  return [
    ...(attempts > 0 ? (['request.received'] as const) : []),
    ...(own ? [own] : []),
    ...(ok && !timeout ? [] : (['request.error'] as const)),
    'request.completed',
  ];
}

const CLASSES: Readonly<Partial<Record<number, CallEvent>>> = {
  2: 'request.success',
  3: 'request.redirect',
  4: 'request.client_error',
  5: 'request.server_error',
};

/** The data of the event as far as the row has it: masked paths, and neither headers nor bodies. */
function callOf(row: LogRow, received: boolean) {
  const mark = (row.path ?? '').indexOf('?');
  const path = mark === -1 ? (row.path ?? '/') : (row.path ?? '').slice(0, mark);
  const query = mark === -1 ? {} : { query: (row.path ?? '').slice(mark + 1) };
  return {
    route_id: row.route_id,
    route_name: row.route_name,
    environment: row.environment,
    request: { method: row.method, path, ip: row.src_ip, ...query },
    response: received
      ? { status: null, latency_ms: null }
      : { status: row.status_code, latency_ms: row.latency_ms, origin: row.origin, error: row.error },
    request_id: row.request_id,
  };
}
