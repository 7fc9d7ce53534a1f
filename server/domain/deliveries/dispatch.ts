import type pg from 'pg';
import { type EventRow, sealPayload } from '#server/domain/events/service.ts';
import { log } from '#server/platform/log.ts';
import { callData, isCallEvent } from './calls.ts';
import { type EventFacts, type EventFilter, passes } from './matching.ts';

const BATCH = 100;
/** Where a worker may die between an event and its deliveries, in their order; a test has one die at each. */
export const DISPATCH_POINTS = ['events_taken', 'payloads_sealed', 'deliveries_made', 'dispatched'] as const;
export type DispatchPoint = (typeof DISPATCH_POINTS)[number];
type Mark = (point: DispatchPoint) => void;

/** When an event is tried again whose data cannot be sealed now, because the workspace's key is out of reach. */
const RETRY = '1 minute';

/** Makes the deliveries of new events, one for each subscription that matches. @returns whether there may be more */
export async function dispatchEvents(pool: pg.Pool, mark: Mark = () => {}): Promise<boolean> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows: events } = await client.query<EventRow>(
      `select id, tenant_id, sandbox, type, source_id, facts, occurred_at, expires_at, payload_ct, cek_wrapped, tmk_version from events
       where dispatch_at <= now() order by dispatch_at limit ${BATCH} for update skip locked`,
    );
    if (events.length > 0) await dispatch(client, events, mark);
    await client.query('commit');
    if (events.length > 0) mark('dispatched');
    return events.length === BATCH;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

async function dispatch(client: pg.PoolClient, events: readonly EventRow[], mark: Mark): Promise<void> {
  mark('events_taken');
  const entries = await auditEntries(client, events);
  const dataOfCall = await callData(client, events);
  const ready: string[] = [];
  for (const event of events) {
    try {
      if (isCallEvent(event)) await store(client, event, await dataOfCall(event));
      else if (!event.payload_ct) await store(client, event, entries.get(event.source_id ?? '') ?? {});
      ready.push(event.id);
    } catch (error) {
      log.warn({ err: error, event_id: event.id, tenant_id: event.tenant_id }, 'an event could not be sealed');
    }
  }
  mark('payloads_sealed');
  await deliver(
    client,
    events.filter(({ id }) => ready.includes(id)),
    entries,
  );
  mark('deliveries_made');
  await client.query(
    `update events set dispatch_at = case when id = any($2::uuid[]) then null else now() + interval '${RETRY}' end where id = any($1::uuid[])`,
    [events.map(({ id }) => id), ready],
  );
}

type Subscription = {
  tenant_id: string;
  sandbox: boolean;
  channel: string;
  destination_id: string;
  event_types: string[];
  max_attempts: number;
  filter: EventFilter | null;
};

/** Makes the deliveries of events whose data is stored. A destination for which too many wait already gets none, and is told how many it missed. */
async function deliver(client: pg.PoolClient, events: readonly EventRow[], entries: Map<string, AuditEntry>): Promise<void> {
  const { rows: subscriptions } = await client.query<Subscription>(
    `select tenant_id, sandbox, channel, destination_id, event_types, max_attempts, filter from event_subscriptions
     where enabled and tenant_id = any($1::uuid[]) and event_types && $2::text[]`,
    [[...new Set(events.map(({ tenant_id }) => tenant_id))], [...new Set(events.map(({ type }) => type))]],
  );
  const wanted = subscriptions.flatMap((subscription) =>
    events
      .filter((event) => wants(subscription, event, entries.get(event.source_id ?? '')))
      .map(({ id, tenant_id, sandbox }) => ({ event_id: id, tenant_id, sandbox, ...destinationOf(subscription) })),
  );
  if (wanted.length === 0) return;
  await client.query(INSERT, [JSON.stringify(wanted)]);
}

const destinationOf = ({ channel, destination_id, max_attempts }: Subscription) => ({ channel, destination_id, max_attempts });

const wants = (subscription: Subscription, event: EventRow, entry: AuditEntry | undefined): boolean =>
  subscription.tenant_id === event.tenant_id &&
  subscription.sandbox === event.sandbox &&
  subscription.event_types.includes(event.type) &&
  passes(
    event.type,
    subscription.filter,
    entry ? { audit: `${entry.resource_type}.${entry.action}` } : ((event.facts ?? null) as EventFacts | null),
  );

/** Of one destination; beyond it new events are not queued (interface rule 60 §5.3). */
const MOST_PENDING = 50_000;

/** Counts what waits over the index of pending deliveries, at most up to the limit, and once for each destination. */
const INSERT = `
  with wanted as (
    select * from jsonb_to_recordset($1::jsonb)
      as w(event_id uuid, tenant_id uuid, sandbox boolean, channel text, destination_id uuid, max_attempts int)),
  room as materialized (
    select d.destination_id, ${MOST_PENDING} - (
      select count(*) from (select from deliveries p where p.destination_id = d.destination_id and p.state = 'pending' limit ${MOST_PENDING}) w) as free
    from (select distinct destination_id from wanted) d),
  turns as (select w.*, row_number() over (partition by w.destination_id order by w.event_id) > r.free as late from wanted w join room r using (destination_id)),
  missed as (
    update event_subscriptions s set dropped = s.dropped + l.n
    from (select channel, destination_id, count(*) as n from turns where late group by 1, 2) l where s.channel = l.channel and s.destination_id = l.destination_id)
  insert into deliveries (id, tenant_id, sandbox, event_id, channel, destination_id, max_attempts)
  select gen_random_uuid(), tenant_id, sandbox, event_id, channel, destination_id, max_attempts from turns where not late on conflict do nothing`;

async function store(client: pg.PoolClient, event: EventRow, data: Record<string, unknown>): Promise<void> {
  const sealed = await sealPayload(event, data);
  await client.query(
    'update events set payload_ct = $2, cek_wrapped = $3, tmk_version = $4, payload_bytes = $5, facts = facts - $6::text where id = $1',
    [event.id, Buffer.from(sealed.payload_ct), Buffer.from(sealed.cek_wrapped), sealed.tmk_version, sealed.payload_bytes, 'call'],
  );
}

type AuditEntry = { id: string; action: string; resource_type: string };

/** The data of `audit.event` (spec 60 §3.1), by the entry's ID. */
async function auditEntries(client: pg.PoolClient, events: readonly EventRow[]): Promise<Map<string, AuditEntry>> {
  const ids = events.filter(({ type }) => type === 'audit.event').map(({ source_id }) => source_id);
  if (ids.length === 0) return new Map();
  const { rows } = await client.query<AuditEntry>(
    'select id, action, resource_type, resource_id, details, ip_address from audit_logs where id = any($1::uuid[])',
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}
