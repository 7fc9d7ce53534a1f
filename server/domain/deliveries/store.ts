import type pg from 'pg';
import type { EventRow } from '#server/domain/events/service.ts';
import type { Attempt, Channels, Ended, Outcome } from './channel.ts';
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

/** An attempt that has ended. */
export type Finished = { delivery: Claimed; owner: string; outcome: Outcome };

/**
 * Records the ends of attempts in one transaction, except of those that another worker took over: a commit costs more than an attempt does. Should the
 * database refuse the batch, each is written by itself, so that one row doesn't hold back the others. @throws what a batch of one is refused with
 */
export async function finish(pool: pg.Pool, channels: Channels, items: readonly Finished[]): Promise<readonly (Error | null)[]> {
  try {
    await finishTogether(pool, channels, items);
    return items.map(() => null);
  } catch (error) {
    if (items.length === 1) return [error instanceof Error ? error : new Error(String(error))];
    const results: (Error | null)[] = [];
    for (const item of items) results.push(...(await finish(pool, channels, [item])));
    return results;
  }
}

async function finishTogether(pool: pg.Pool, channels: Channels, items: readonly Finished[]): Promise<void> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('begin');
    const ended = await end(client, items);
    for (const [name, channel] of Object.entries(channels)) {
      const entries = items.flatMap(({ delivery, outcome }) => {
        const how = ended.get(delivery.id);
        if (delivery.channel !== name || !how || how.state === 'dropped' || outcome.result === 'dropped') return [];
        return [{ ended: { state: how.state, next_attempt_at: how.next_attempt_at }, kept: outcome.kept }];
      });
      if (entries.length > 0) await channel.record?.(client, entries);
    }
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

type EndedRow = { id: string; state: Ended['state'] | 'dropped'; next_attempt_at: Date | null };

async function end(client: pg.PoolClient, items: readonly Finished[]): Promise<Map<string, EndedRow>> {
  // In the order of their IDs, always, so that two workers never wait for each other.
  const ends = items.map(endOf).sort((a, b) => (a.id < b.id ? -1 : 1));
  const { rows } = await client.query<EndedRow>({ name: 'end-deliveries', text: END, values: [JSON.stringify(ends)] });
  return new Map(rows.map((row) => [row.id, row]));
}

function endOf({ delivery: { id, attempts, max_attempts }, owner, outcome }: Finished) {
  const done = attempts + 1;
  const retries = outcome.result === 'failed' && !outcome.final && done < max_attempts;
  return {
    ...{ id, owner, state: retries ? 'pending' : STATES[outcome.result], attempts: outcome.result === 'dropped' ? attempts : done },
    status: outcome.result === 'dropped' ? null : (outcome.status ?? null),
    error: outcome.result === 'failed' ? outcome.error : null,
    delay: retries ? retryDelay(done, outcome.retryAfterMs) : 0,
  };
}

const END = `
  with ends as (
    select * from jsonb_to_recordset($1::jsonb) as e(id uuid, owner uuid, state text, attempts int, status int, error text, delay float8)),
  held as materialized (
    select d.id from deliveries d join ends e on e.id = d.id where d.locked_by = e.owner and d.state = 'in_flight' order by d.id for update of d)
  update deliveries d set state = e.state, attempts = e.attempts, last_status = e.status, last_error = e.error,
    next_attempt_at = now() + e.delay * interval '1 millisecond', finished_at = case when e.state = 'pending' then null else now() end,
    locked_by = null, locked_until = null
  from ends e join held using (id) where d.id = e.id
  returning d.id, d.state, case when d.state = 'pending' then d.next_attempt_at end as next_attempt_at`;

const STATES = { delivered: 'succeeded', failed: 'exhausted', dropped: 'dropped' } as const;

/** Gives an attempt back that was cut off by a stop: it is made again with the same number. */
export async function giveBack(pool: pg.Pool, { id }: Claimed, owner: string): Promise<void> {
  await pool.query(
    "update deliveries set state = 'pending', locked_by = null, locked_until = null where id = $1 and locked_by = $2 and state = 'in_flight'",
    [id, owner],
  );
}
