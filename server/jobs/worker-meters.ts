import { sql } from '#server/platform/sql.ts';
import { observe, type Sample } from '#server/platform/telemetry/meters.ts';
import { watchPool } from '#server/platform/telemetry/pool-meters.ts';
import { leaseKinds } from './leases.ts';

/** Beyond this nothing is counted on: whoever looks knows that it is too many. */
const MOST = 100_000;

/** What waits in the database for workers, all of them together. Statements over partial indexes, asked when somebody scrapes. */
const BACKLOG = `
  select
    (select count(*) from (select from events where dispatch_at is not null limit ${MOST}) w)::int as outbox,
    (select extract(epoch from now() - min(dispatch_at)) from events where dispatch_at <= now())::float8 as outbox_age,
    (select count(*) from (select from deliveries where state = 'pending' limit ${MOST}) w)::int as deliveries_pending,
    (select count(*) from (select from deliveries where state = 'in_flight' limit ${MOST}) w)::int as deliveries_running,
    (select extract(epoch from now() - min(next_attempt_at)) from (select next_attempt_at from deliveries where state = 'pending' limit ${MOST}) w)::float8 as delivery_delay,
    (select sum(due)::int from unnest($1::text[]) k cross join lateral
      (select count(*) as due from (select from leases where kind = k and next_at <= now() limit ${MOST}) w) of_kind) as leases_due,
    (select extract(epoch from now() - min(next_at)) from unnest($1::text[]) k cross join lateral
      (select min(next_at) as next_at from leases where kind = k and next_at <= now()) of_kind)::float8 as lease_delay`;

/** The queue has a schema of its own, which the first worker makes. */
const JOBS = `
  select
    (select count(*) from (select from graphile_worker.jobs where attempts < max_attempts and locked_at is null and run_at <= now() limit ${MOST}) w)::int as jobs_due,
    (select count(*) from (select from graphile_worker.jobs where locked_at is not null limit ${MOST}) w)::int as jobs_running,
    (select count(*) from (select from graphile_worker.jobs where attempts >= max_attempts limit ${MOST}) w)::int as jobs_failed`;

type Backlog = Record<
  'outbox' | 'deliveries_pending' | 'deliveries_running' | 'jobs_due' | 'jobs_running' | 'jobs_failed' | 'leases_due',
  number
> &
  Record<'outbox_age' | 'delivery_delay' | 'lease_delay', number | null>;

const REUSE_MS = 5_000;

/** Has the backlog of the workers read when somebody asks, at most every five seconds. Returns what ends it. */
export function measureWorker(): () => void {
  watchPool('worker', sql());
  let last: { at: number; backlog: Promise<Backlog> } | undefined;
  const backlog = (): Promise<Backlog> => {
    if (last === undefined || Date.now() - last.at > REUSE_MS) last = { at: Date.now(), backlog: readBacklog() };
    return last.backlog;
  };
  const gauge = (name: string, help: string, read: (found: Backlog) => readonly Sample[], unit?: 's') =>
    observe('gauge', { name, help, unit }, async () => read(await backlog()));
  // What isn't due yet has waited for less than nothing.
  const one = (value: number | null): Sample[] => [{ labels: {}, value: Math.max(0, value ?? 0) }];
  const removals = [
    gauge('sallyport_outbox_events', `Events that are not dispatched yet, at most ${MOST}`, ({ outbox }) => one(outbox)),
    gauge('sallyport_outbox_age_seconds', 'How long the oldest of them that is due has waited', ({ outbox_age }) => one(outbox_age), 's'),
    gauge('sallyport_deliveries_waiting', `Deliveries by state, at most ${MOST} each`, ({ deliveries_pending, deliveries_running }) => [
      { labels: { state: 'pending' }, value: deliveries_pending },
      { labels: { state: 'in_flight' }, value: deliveries_running },
    ]),
    gauge(
      'sallyport_delivery_delay_seconds',
      'How long the oldest delivery that is due has waited',
      ({ delivery_delay }) => one(delivery_delay),
      's',
    ),
    gauge('sallyport_jobs_waiting', `Jobs by state, at most ${MOST} each`, ({ jobs_due, jobs_running, jobs_failed }) => [
      { labels: { state: 'due' }, value: jobs_due },
      { labels: { state: 'running' }, value: jobs_running },
      { labels: { state: 'given_up' }, value: jobs_failed },
    ]),
    gauge('sallyport_leases_due', `Leases that have run out and are not handled yet, at most ${MOST}`, ({ leases_due }) => one(leases_due)),
    gauge('sallyport_lease_delay_seconds', 'How long the oldest of them has waited', ({ lease_delay }) => one(lease_delay), 's'),
  ];
  return () => {
    for (const remove of removals) remove();
  };
}

async function readBacklog(): Promise<Backlog> {
  const [rows, jobs] = await Promise.all([ask(BACKLOG, leaseKinds), ask(JOBS).catch(noQueueYet)]);
  return { ...rows, ...jobs } as Backlog;
}

const ask = async (text: string, ...values: unknown[]): Promise<object> => {
  const { rows } = await sql().query<object>({ text, values, query_timeout: 4_000 } as { text: string; values: unknown[] });
  return rows[0] ?? {}; // one row always
};

function noQueueYet(error: unknown): object {
  if ((error as { code?: string }).code !== '42P01') throw error;
  return { jobs_due: 0, jobs_running: 0, jobs_failed: 0 };
}
