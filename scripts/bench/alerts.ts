import pg from 'pg';
import { type Row, say } from './report.ts';
import { install } from './service.ts';

const ALERTS = 1_000;
const SPACES = 100;
const ROUTES = 5;
const MINUTES = 120;
const RUNS = 15;
const TARGET_MS = 1_000;

/** One look at a thousand alerts of a hundred workspaces whose calls are counted by the minute, and one that finds all of them firing. */
export async function measureAlerts(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  try {
    const operator = await import('../../server/domain/operator/service.ts');
    const { evaluateAlerts } = await import('../../server/domain/alerts/evaluation.ts');
    const { ALERT_TYPES, DEFAULTS } = await import('../../server/domain/alerts/conditions.shared.ts');
    const { db } = await import('../../server/platform/db.ts');
    const tenants: string[] = [];
    for (let n = 0; n < SPACES; n++)
      tenants.push((await operator.provisionTenant({ slug: `bench-${n}`, plan: 'enterprise', starter: false })).id);
    say('filling minutes');
    await client.query(
      `insert into request_rollups (tenant_id, sandbox, minute, route_id, environment, status_class, count, errors, rate_limited, latency, upstream, latency_max)
       select t, false, date_trunc('minute', now()) - m * interval '1 minute', md5(t::text || r)::uuid, 'production', c, 100, case c when 5 then 100 else 0 end, 0,
         array_fill(5, array[20]) || array_fill(0, array[19]) || case r % 3 when 0 then 1 else 0 end, array_fill(0, array[40]), case r % 3 when 0 then 120000 else 300 end
       from unnest($1::uuid[]) t, generate_series(0, $2::int) m, generate_series(1, $3::int) r, unnest('{2,4,5}'::int[]) c`,
      [tenants, MINUTES, ROUTES],
    );
    const kinds = ALERT_TYPES.map((type) => ({ type, condition: { ...DEFAULTS[type], action_prefix: undefined, ...quiet(type) } }));
    await client.query(
      `insert into alerts (id, tenant_id, sandbox, name, type, condition, severity, watching_since)
       select gen_random_uuid(), ($1::uuid[])[1 + i % $2::int], false, 'bench-' || i, k ->> 'type', k -> 'condition', 'high', now() - interval '1 day'
       from generate_series(0, $3::int - 1) i cross join lateral (select $4::jsonb -> ((i / $2::int) % jsonb_array_length($4::jsonb)) as k) k`,
      [tenants, SPACES, ALERTS, JSON.stringify(kinds)],
    );
    await client.query('vacuum analyze');
    const times: number[] = [];
    for (let n = 0; n < RUNS; n++) {
      const began = performance.now();
      const { alerts } = await evaluateAlerts(db(), new Date());
      times.push(performance.now() - began);
      if (alerts !== ALERTS) throw new Error(`${alerts} alerts were looked at, not ${ALERTS}.`);
    }
    const median = times.toSorted((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;
    // A bad look: in every workspace all routes begin to fail.
    await client.query(
      `update alerts set type = 'error_rate', condition = '{"percent": 10, "min_requests": 10, "window_minutes": 5}'
       where id in (select distinct on (tenant_id) id from alerts order by tenant_id, id)`,
    );
    const began = performance.now();
    const { opened } = await evaluateAlerts(db(), new Date());
    const worst = performance.now() - began;
    say(`${opened} incidents opened in ${(worst / 1_000).toFixed(1)} s`);
    return [
      {
        what: `a look at ${ALERTS.toLocaleString('en')} alerts of all types in ${SPACES} workspaces`,
        measured: `${Math.round(median)} ms`,
        against: `every 30 s`,
        value: `${((median / 30_000) * 100).toFixed(1)} % of the time between two looks`,
        target: `at most ${TARGET_MS} ms`,
        pass: median <= TARGET_MS,
      },
      {
        what: `opening ${opened.toLocaleString('en')} incidents at one look, with their timelines and sample calls`,
        measured: `${(worst / 1_000).toFixed(1)} s`,
        against: '',
        value: `${(worst / Math.max(opened, 1)).toFixed(1)} ms each`,
        target: '',
        pass: null,
      },
    ];
  } finally {
    await client.end();
    await installation.stop();
  }
}

/** Thresholds that what was filled in does not reach. */
const quiet = (type: string): object =>
  type === 'error_rate' ? { percent: 99 } : type === 'audit_match' ? { resource_type: 'none' } : { threshold: 1_000_000 };
