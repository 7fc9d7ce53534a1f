import type pg from 'pg';
import type { EventRow } from '#server/domain/events/service.ts';
import type { Attempt, Ended, Outcome } from './channel.ts';
import { retryDelay } from './schedule.ts';

/**
 * Attempts in flight to one destination and for one workspace (spec 60 §5.3). A destination with none in flight gets one beyond the limit of its
 * workspace, so that receivers that hang don't starve the workspace's others.
 */
const PER_DESTINATION = 10;
const PER_TENANT = 50;
/** Longer than any attempt. After this the attempt of a worker that died is made again. */
export const LOCK_SECONDS = 120;

export type Claimed = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  channel: string;
  destination_id: string;
  attempts: number;
  max_attempts: number;
  trigger: Attempt['trigger'];
  /** Its subscription is there and enabled. */
  wanted: boolean;
  event: EventRow;
};

/**
 * Claims up to `free` due deliveries. Destinations, and workspaces, take turns: the backlog of one doesn't delay the others. Workers claim one after
 * another, so that the limits hold for all of them together.
 */
export async function claim(pool: pg.Pool, channels: readonly string[], owner: string, free: number): Promise<Claimed[]> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query("select pg_advisory_xact_lock(hashtextextended('claim deliveries', 0))");
    await client.query(
      "update deliveries set state = 'pending', locked_by = null, locked_until = null where state = 'in_flight' and locked_until < now()",
    );
    const { rows } = await client.query<Omit<Claimed, 'event'> & { event_id: string }>(CLAIM, [channels, owner, free]);
    const { rows: events } = await client.query<EventRow>('select * from events where id = any($1::uuid[])', [
      rows.map((row) => row.event_id),
    ]);
    await client.query('commit');
    const byId = new Map(events.map((event) => [event.id, event]));
    return rows.map(({ event_id, ...row }) => ({ ...row, event: byId.get(event_id) as EventRow }));
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

/** `destinations` hops from one destination with pending deliveries to the next over the index: it never reads their backlogs. */
const CLAIM = `
  with recursive destinations as (
    (select destination_id, tenant_id from deliveries where state = 'pending' order by destination_id limit 1)
    union all
    select next.destination_id, next.tenant_id from destinations d cross join lateral (
      select destination_id, tenant_id from deliveries where state = 'pending' and destination_id > d.destination_id order by destination_id limit 1) next),
  busy as (select destination_id, tenant_id, count(*)::int as n from deliveries where state = 'in_flight' group by 1, 2),
  due as (
    select p.id, d.tenant_id, p.nth + coalesce(b.n, 0) as nth
    from destinations d left join busy b using (destination_id, tenant_id) cross join lateral (
      select id, row_number() over (order by next_attempt_at, id) as nth from (
        select id, next_attempt_at from deliveries where state = 'pending' and destination_id = d.destination_id and channel = any($1) and next_attempt_at <= now()
        order by next_attempt_at, id limit greatest(0, ${PER_DESTINATION} - coalesce(b.n, 0))) first) p),
  turns as (
    select id, nth, row_number() over (partition by tenant_id order by nth, random())
      + coalesce((select sum(n) from busy where busy.tenant_id = due.tenant_id), 0) as turn from due),
  claimed as (select id from turns where turn <= case when nth = 1 then ${2 * PER_TENANT} else ${PER_TENANT} end order by turn, random() limit $3)
  update deliveries d set state = 'in_flight', locked_by = $2, locked_until = now() + interval '${LOCK_SECONDS} seconds'
  from claimed where d.id = claimed.id
  returning d.id, d.tenant_id, d.sandbox, d.channel, d.destination_id, d.attempts, d.max_attempts, d.trigger, d.event_id,
    exists (select from event_subscriptions s where s.channel = d.channel and s.destination_id = d.destination_id and s.enabled) as wanted`;

/** Records the end of an attempt, unless another worker took the delivery over. */
export async function finish(pool: pg.Pool, delivery: Claimed, owner: string, outcome: Outcome): Promise<void> {
  const record = outcome.result === 'dropped' ? undefined : outcome.record;
  if (!record) return void (await end(pool, delivery, owner, outcome));
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('begin');
    const ended = await end(client, delivery, owner, outcome);
    if (ended) await record(client, ended);
    await client.query('commit');
    broken = false;
  } catch (error) {
    await client.query('rollback').then(
      () => {
        broken = false;
      },
      () => {},
    );
    throw error;
  } finally {
    client.release(broken);
  }
}

async function end(
  db: pg.Pool | pg.PoolClient,
  { id, attempts, max_attempts }: Claimed,
  owner: string,
  outcome: Outcome,
): Promise<Ended | null> {
  const done = attempts + 1;
  const retries = outcome.result === 'failed' && !outcome.final && done < max_attempts;
  const state = retries ? 'pending' : STATES[outcome.result];
  const status = outcome.result === 'dropped' ? null : (outcome.status ?? null);
  const error = outcome.result === 'failed' ? outcome.error : null;
  const delay = retries ? retryDelay(done, outcome.retryAfterMs) : 0;
  const { rows } = await db.query<Ended>(
    `update deliveries set state = $3, attempts = $4, last_status = $5, last_error = $6, next_attempt_at = now() + $7 * interval '1 millisecond',
       finished_at = case when $3 = 'pending' then null else now() end, locked_by = null, locked_until = null
     where id = $1 and locked_by = $2 and state = 'in_flight'
     returning state, case when state = 'pending' then next_attempt_at end as next_attempt_at`,
    [id, owner, state, outcome.result === 'dropped' ? attempts : done, status, error, delay],
  );
  return rows[0] ?? null;
}

const STATES = { delivered: 'succeeded', failed: 'exhausted', dropped: 'dropped' } as const;

/** Gives an attempt back that was cut off by a stop: it is made again with the same number. */
export async function giveBack(pool: pg.Pool, { id }: Claimed, owner: string): Promise<void> {
  await pool.query(
    "update deliveries set state = 'pending', locked_by = null, locked_until = null where id = $1 and locked_by = $2 and state = 'in_flight'",
    [id, owner],
  );
}
