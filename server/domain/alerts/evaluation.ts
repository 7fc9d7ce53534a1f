import type { Db } from '#server/kernel/database.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import { type AlertState, isOfRequests, windowOf } from './conditions.shared.ts';
import { findAll } from './finding.ts';
import { messageDue, step } from './machine.ts';
import { sampleCalls } from './sources/calls.ts';
import { type Decision, decide, type Open } from './telling.ts';
import type { Finding, Watched } from './watched.ts';

/** Alerts that are looked at together. */
const BATCH = 2_000;
const LOCK = 'evaluate alerts';
/** Spaces whose decisions are written at the same time. */
const AT_ONCE = 4;

export type Evaluated = { alerts: number; opened: number; resolved: number; told: number };

/**
 * Looks at every alert of every workspace once: opens and ends incidents, and queues what is told of them. One worker at a time; whoever comes meanwhile does
 * nothing. Each workspace's decisions commit together with their messages and events, so a crash leaves either all of them or none, and the next look decides
 * what is left. @returns how many
 */
export async function evaluateAlerts(db: Db, now: Date): Promise<Evaluated> {
  const sum: Evaluated = { alerts: 0, opened: 0, resolved: 0, told: 0 };
  const client = await sql().connect();
  let broken = true;
  try {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock(hashtextextended($1, 0)) as mine', [LOCK]);
    if (rows[0]?.mine) {
      for (let after: string | null = null; ; ) {
        const alerts: Watched[] = await nextAlerts(after);
        for (const [name, n] of Object.entries(await evaluate(db, alerts, now))) sum[name as keyof Evaluated] += n;
        if (alerts.length < BATCH) break;
        after = (alerts.at(-1) as Watched).id;
      }
      await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [LOCK]);
    }
    broken = false;
    return sum;
  } finally {
    client.release(broken);
  }
}

async function nextAlerts(after: string | null): Promise<Watched[]> {
  const { rows } = await sql().query<Watched>(
    `select a.id, a.tenant_id, a.sandbox, a.name, a.type, a.condition, a.route_ids, a.environments, a.severity, a.cooldown_minutes, a.channel_ids, a.muted_until,
       a.state, a.watching_since
     from alerts a join tenants t on t.id = a.tenant_id where a.enabled and t.deleted_at is null and ($1::uuid is null or a.id > $1) order by a.id limit ${BATCH}`,
    [after],
  );
  return rows;
}

/** The same for some alerts: what all of them find is read together, then each space decides for itself. */
export async function evaluate(db: Db, alerts: readonly Watched[], now: Date): Promise<Evaluated> {
  if (alerts.length === 0) return { alerts: 0, opened: 0, resolved: 0, told: 0 };
  const found = await findAll(alerts, now);
  const { rows: open } = await sql().query<Open>(
    `select id, alert_id, group_key, clean_since, value, peak, messages, last_message_at, acknowledged_at
     from alert_incidents where resolved_at is null and alert_id = any($1::uuid[])`,
    [alerts.map(({ id }) => id)],
  );
  const incidents = Map.groupBy(open, ({ alert_id }) => alert_id);
  const decisions: Decision[] = [];
  const changes: Change[] = [];
  const states: { id: string; state: AlertState }[] = [];
  for (const alert of alerts) {
    const finding = found.get(alert.id);
    if (!finding) continue;
    const looked = look(alert, finding, incidents.get(alert.id) ?? [], now);
    decisions.push(...looked.decisions);
    changes.push(...looked.changes);
    if (looked.state !== alert.state) states.push({ id: alert.id, state: looked.state });
  }
  await sql().query(CHANGES, [JSON.stringify(changes)]);
  const sum = { alerts: alerts.length, opened: 0, resolved: 0, told: 0 };
  const samples = await samplesOf(decisions, now);
  const spaces = [...Map.groupBy(decisions, ({ alert }) => `${alert.tenant_id} ${alert.sandbox}`).values()];
  const failed = new Set<string>();
  const work = async (): Promise<void> => {
    for (let own = spaces.pop(); own; own = spaces.pop()) {
      try {
        const done = await decide(db, own, samples, now);
        sum.opened += done.opened;
        sum.resolved += done.resolved;
        sum.told += done.told;
      } catch (error) {
        // The next look decides the same again: nothing of it was written.
        log.error({ err: error, tenant_id: own[0]?.alert.tenant_id }, 'cannot decide about alerts of a workspace');
        for (const { alert } of own) failed.add(alert.id);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const written = states.filter(({ id }) => !failed.has(id));
  if (written.length > 0) await sql().query(STATES, [JSON.stringify(written)]);
  return sum;
}

async function samplesOf(decisions: readonly Decision[], now: Date): Promise<Map<Decision, string[]>> {
  const opening = decisions.flatMap((decision) => (decision.do === 'open' && isOfRequests(decision.alert.type) ? decision : []));
  const samples = await sampleCalls(
    opening.map(({ alert, group }) => ({ alert, key: group.key })),
    now,
  );
  return new Map(opening.map((decision, i) => [decision, samples[i] ?? []]));
}

type Change = { id: string; value: number; peak: number; clean_since: Date | null };
/** What a look changes of an incident without anybody being told. */
const CHANGES = `update alert_incidents i set value = c.value, peak = c.peak, clean_since = c.clean_since
  from jsonb_to_recordset($1::jsonb) as c(id uuid, value float8, peak float8, clean_since timestamptz) where i.id = c.id and i.resolved_at is null`;
const STATES = `update alerts a set state = s.state from jsonb_to_recordset($1::jsonb) as s(id uuid, state text) where a.id = s.id and a.enabled`;

/** What comes of one alert, from what it finds and what is open of it. */
function look(alert: Watched, { groups, data }: Finding, open: readonly Open[], now: Date) {
  const window = windowOf(alert.type, alert.condition);
  const byKey = new Map(groups.map((group) => [group.key, group]));
  const decisions: Decision[] = [];
  const changes: Change[] = [];
  let firing = 0;
  for (const incident of open) {
    const group = byKey.get(incident.group_key);
    const next = step(incident, group?.holds ?? false, now, window);
    // The percentile of a route without a slow call is not worked out.
    const value = group?.value ?? (alert.type === 'high_latency' ? incident.value : 0);
    const peak = next === 'holds' ? peakOf(alert, incident.peak, value) : incident.peak;
    if (next === 'resolve') {
      decisions.push({ do: 'resolve', alert, incident, value });
      continue;
    }
    firing++;
    const clean_since = next === 'holds' ? null : next === 'clean' ? now : incident.clean_since;
    if (value !== incident.value || peak !== incident.peak || clean_since?.getTime() !== incident.clean_since?.getTime())
      changes.push({ id: incident.id, value, peak, clean_since });
    const due = next === 'holds' ? messageDue(incident, alert, now) : null;
    if (due) decisions.push({ do: 'tell', alert, incident: { ...incident, value, peak }, kind: due });
  }
  for (const group of groups) {
    if (!group.holds || open.some(({ group_key }) => group_key === group.key)) continue;
    decisions.push({ do: 'open', alert, group });
    firing++;
  }
  const state: AlertState = firing > 0 ? 'firing' : data ? 'ok' : 'no_data';
  return { decisions, changes, state };
}

/** Of what counts down the lowest is the worst. */
const peakOf = ({ type }: Watched, before: number, value: number): number =>
  type === 'secret_expiring' || type === 'certificate_expiring' ? Math.min(before, value) : Math.max(before, value);
