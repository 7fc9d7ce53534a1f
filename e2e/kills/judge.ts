import pg from 'pg';
import { brokenWrites, type Row } from '../../server/testing/chaos/history.ts';
import type { OwnSystem } from '../isolated-system.ts';
import { until } from '../running-system.ts';
import { CAP_NANO, COST_NANO, type Record, type Work } from './work.ts';

/** What of all that callers were told isn't so afterwards: one sentence each. Waits for what goes on by itself: runs that end, calls that are written to the log. */
export async function judged(system: OwnSystem, { record, acceptsKey }: Work): Promise<string[]> {
  const client = new pg.Client({ connectionString: system.databaseUrl });
  await client.connect();
  const rows = async <T extends pg.QueryResultRow>(text: string, values: unknown[] = []) => (await client.query<T>(text, values)).rows;
  try {
    const problems = [...record.garbage];
    for (const [table, type, told] of [
      ['clients', 'client', record.clients],
      ['api_keys', 'api_key', record.keys],
    ] as const) {
      const stored = await rows<Row>(`select id, name from ${table} where name ~ '^(write|mint)-'`);
      const audits = await rows<{ id: string }>(
        `select resource_id as id from audit_logs where resource_type = $1 and action = 'create' and resource_id = any($2)`,
        [type, stored.map(({ id }) => id)],
      );
      problems.push(
        ...brokenWrites(
          told.acknowledged,
          told.begun,
          stored,
          audits.map(({ id }) => id),
        ),
      );
    }
    for (const [name, key] of record.keys.secrets)
      if (!(await acceptsKey(key))) problems.push(`the key ${name} was minted and isn't accepted`);
    problems.push(...(await brokenRuns(record, rows)), ...(await brokenCalls(record, rows)), ...(await brokenBudgets(record, rows)));
    return problems;
  } finally {
    await client.end();
  }
}

type Rows = <T extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<T[]>;

/** Every run that was acknowledged ends well, once, and its step was told to the other side under one key. */
async function brokenRuns({ runs, steps, workflow }: Record, rows: Rows): Promise<string[]> {
  const all = () => rows<{ id: string; status: string }>('select id, status from workflow_executions where workflow_id = $1', [workflow]);
  await until('every run has ended', async () => (await all()).every(({ status }) => !['queued', 'running', 'waiting'].includes(status)));
  const stored = new Map((await all()).map(({ id, status }) => [id, status]));
  const problems: string[] = [];
  for (const [name, id] of runs.acknowledged) {
    if (stored.get(id) !== 'completed') problems.push(`the run ${name} was acknowledged as ${id} and is ${stored.get(id) ?? 'not there'}`);
    if (steps.get(name)?.size !== 1) problems.push(`the step of ${name} was sent under ${steps.get(name)?.size ?? 0} keys`);
  }
  if (new Set(runs.acknowledged.values()).size !== runs.acknowledged.size) problems.push('two starts were told the same run');
  if (stored.size > runs.begun.size) problems.push(`${stored.size} runs exist, and ${runs.begun.size} were asked for`);
  return problems;
}

/** Every call that was answered reached the upstream once and is in the log once. */
async function brokenCalls({ calls, arrived }: Record, rows: Rows): Promise<string[]> {
  const logged = async () =>
    new Map(
      (await rows<{ id: string; n: number }>('select request_id as id, count(*)::int as n from request_logs group by 1')).map(
        ({ id, n }) => [id, n],
      ),
    );
  await until('every call is in the log', async () => {
    const now = await logged();
    return [...calls.values()].every((id) => now.has(id));
  }).catch(() => undefined);
  const now = await logged();
  return [...calls].flatMap(([name, id]) => [
    ...(arrived.get(name) === 1 ? [] : [`the call ${name} reached the upstream ${arrived.get(name) ?? 0} times`]),
    ...(now.get(id) === 1 ? [] : [`the call ${name} (${id}) is in the log ${now.get(id) ?? 0} times`]),
  ]);
}

/** Every call of a model that was answered is charged once; a budget is what its calls have cost together, and admits no more. */
async function brokenBudgets({ spent, capped, agents, arrived }: Record, rows: Rows): Promise<string[]> {
  const problems: string[] = [];
  for (const [agent, told] of [
    [agents.open, spent],
    [agents.capped, capped],
  ] as const) {
    // In one statement: a gateway may write both between two.
    const look = async () => {
      const [read] = await rows<{ events: { id: string; n: number; nano: string }[]; counted: string }>(
        `select
          (select coalesce(json_agg(e), '[]') from (select request_id as id, count(*)::int as n, sum(cost_nano)::text as nano
            from ai_usage_events where agent_id = ($1::text)::uuid and cost_nano > 0 group by 1) e) as events,
          (select coalesce(sum(spent_nano), 0)::text from ai_spend_counters where subject_type = 'agent' and subject_id = $1::text and period = 'day') as counted`,
        [agent],
      );
      const charged = new Map((read?.events ?? []).map(({ id, n, nano }) => [id, { n, nano: BigInt(nano) }]));
      const total = [...charged.values()].reduce((sum, { nano }) => sum + nano, 0n);
      return { charged, total, counted: BigInt(read?.counted ?? 0) };
    };
    await until('every call is charged', async () => {
      const { charged, total, counted } = await look();
      return total === counted && [...told.values()].every((id) => charged.has(id));
    }).catch(() => undefined);
    const { charged, total, counted } = await look();
    for (const [name, id] of told) {
      const one = charged.get(id);
      if (one?.n !== 1 || one.nano !== COST_NANO)
        problems.push(`the call ${name} (${id}) was charged ${one?.n ?? 0} times, ${one?.nano ?? 0n} in all`);
      if (arrived.get(name) !== 1) problems.push(`the call ${name} reached the model ${arrived.get(name) ?? 0} times`);
    }
    if (total !== counted) problems.push(`the calls of ${agent} cost ${total}, and its budget says ${counted}`);
  }
  const most = CAP_NANO + COST_NANO;
  if (BigInt(capped.size) * COST_NANO > most) problems.push(`${capped.size} calls were let through a budget of ${CAP_NANO / COST_NANO}`);
  return problems;
}
