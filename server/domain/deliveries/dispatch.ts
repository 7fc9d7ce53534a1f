import type pg from 'pg';
import { type EventRow, sealPayload } from '#server/domain/events/service.ts';
import { log } from '#server/platform/log.ts';

const BATCH = 100;
/** When an event is tried again whose data cannot be sealed now, because the workspace's key is out of reach. */
const RETRY = '1 minute';

/** Makes the deliveries of new events, one for each subscription that matches. @returns whether there may be more */
export async function dispatchEvents(pool: pg.Pool): Promise<boolean> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows: events } = await client.query<EventRow>(
      `select id, tenant_id, sandbox, type, source_id, occurred_at, expires_at, payload_ct, cek_wrapped, tmk_version from events
       where dispatch_at <= now() order by dispatch_at limit ${BATCH} for update skip locked`,
    );
    if (events.length > 0) await dispatch(client, events);
    await client.query('commit');
    return events.length === BATCH;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

async function dispatch(client: pg.PoolClient, events: readonly EventRow[]): Promise<void> {
  const entries = await auditEntries(client, events);
  const ready: string[] = [];
  for (const event of events) {
    try {
      if (!event.payload_ct) await store(client, event, entries.get(event.source_id ?? '') ?? {});
      ready.push(event.id);
    } catch (error) {
      log.warn({ err: error, event_id: event.id, tenant_id: event.tenant_id }, 'an event could not be sealed');
    }
  }
  await client.query(
    `insert into deliveries (id, tenant_id, sandbox, event_id, channel, destination_id, max_attempts)
     select gen_random_uuid(), e.tenant_id, e.sandbox, e.id, s.channel, s.destination_id, s.max_attempts
     from events e join event_subscriptions s on s.tenant_id = e.tenant_id and s.sandbox = e.sandbox and s.enabled and e.type = any (s.event_types)
     where e.id = any($1::uuid[]) on conflict do nothing`,
    [ready],
  );
  await client.query(
    `update events set dispatch_at = case when id = any($2::uuid[]) then null else now() + interval '${RETRY}' end where id = any($1::uuid[])`,
    [events.map(({ id }) => id), ready],
  );
}

async function store(client: pg.PoolClient, event: EventRow, data: Record<string, unknown>): Promise<void> {
  const sealed = await sealPayload(event, data);
  await client.query('update events set payload_ct = $2, cek_wrapped = $3, tmk_version = $4, payload_bytes = $5 where id = $1', [
    event.id,
    Buffer.from(sealed.payload_ct),
    Buffer.from(sealed.cek_wrapped),
    sealed.tmk_version,
    sealed.payload_bytes,
  ]);
}

/** The data of `audit.event` (spec 60 §3.1), by the entry's ID. */
async function auditEntries(client: pg.PoolClient, events: readonly EventRow[]): Promise<Map<string, Record<string, unknown>>> {
  const ids = events.filter(({ type }) => type === 'audit.event').map(({ source_id }) => source_id);
  if (ids.length === 0) return new Map();
  const { rows } = await client.query<{ id: string }>(
    'select id, action, resource_type, resource_id, details, ip_address from audit_logs where id = any($1::uuid[])',
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}
