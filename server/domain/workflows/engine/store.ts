import type pg from 'pg';
import type { ExecutionStatus, NodeStatus } from '../definition.shared.ts';
import type { SealedValue } from './values.ts';

// The queue of executions and what is written of them: statements of the workers' own connections, for all workspaces.

/** At a time (interface rule 62 §4.2). */
const PER_WORKFLOW = 10;
const PER_TENANT = 50;
/** After this the execution of a worker that died is taken over. */
export const LOCK_SECONDS = 60;

export type Claimed = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  workflow_id: string;
  workflow_name: string;
  workflow_version: number | null;
  definition: unknown;
  status: ExecutionStatus;
  trigger_type: string;
  environment: string | null;
  timeout_seconds: number;
  operations: number;
  retry_of: string | null;
  chain: string[];
  authorities: unknown;
  value_ct: Buffer;
  cek_wrapped: Buffer;
  tmk_version: number;
  /** How often a worker that had it was lost. */
  lost: number;
  active_ms: number;
  cancel_at: Date | null;
  started_at: Date;
  created_at: Date;
  plan: 'free' | 'starter' | 'pro' | 'enterprise';
  /** Whether a worker has had it before. */
  resumed: boolean;
};

/** Claims what a worker can begin or go on with, at most `free`: what another one lost, what a timer wakes, then the queue. */
export async function claim(pool: pg.Pool, owner: string, free: number, now: Date): Promise<Claimed[]> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query("select pg_advisory_xact_lock(hashtextextended('claim workflow executions', 0))");
    const { rows } = await client.query<Claimed>({ name: 'workflow-claim', text: CLAIM, values: [owner, free, now] });
    await client.query('commit');
    return rows;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

/** `queues` hops from one workflow with queued executions to the next over the index, so that no backlog is read. Workspaces take turns. */
const CLAIM = `
  with recursive queues as (
    (select workflow_id, tenant_id from workflow_executions where status = 'queued' order by workflow_id limit 1)
    union all
    select next.workflow_id, next.tenant_id from queues q cross join lateral (
      select workflow_id, tenant_id from workflow_executions where status = 'queued' and workflow_id > q.workflow_id order by workflow_id limit 1) next),
  busy as (select tenant_id, workflow_id, count(*)::int as n from workflow_executions where status in ('running', 'cancelling') group by 1, 2),
  waiting as (
    select p.id, q.tenant_id, p.nth + coalesce(b.n, 0) as nth, p.created_at
    from queues q left join busy b using (workflow_id, tenant_id) cross join lateral (
      select id, created_at, row_number() over (order by created_at, id) as nth from (
        select id, created_at from workflow_executions where status = 'queued' and workflow_id = q.workflow_id
        order by created_at, id limit greatest(0, ${PER_WORKFLOW} - coalesce(b.n, 0))) first) p),
  turns as (select id, row_number() over (partition by tenant_id order by nth, created_at)
      + coalesce((select sum(n) from busy where busy.tenant_id = waiting.tenant_id), 0) as turn from waiting),
  due as (
    select id, 0 as turn from workflow_executions where status in ('running', 'cancelling') and locked_until < now()
    union all select id, 0 from workflow_executions where status = 'waiting' and wakes_at <= $3
    union all select id, turn from turns where turn <= ${PER_TENANT}),
  chosen as (select id from due order by turn, random() limit $2),
  claimed as (
    update workflow_executions e set
      status = case when e.status = 'cancelling' then e.status else 'running' end,
      lost = case when e.status = 'waiting' or e.locked_by is null then e.lost else e.lost + 1 end,
      locked_by = $1, locked_until = now() + interval '${LOCK_SECONDS} seconds', wakes_at = null, started_at = coalesce(e.started_at, $3)
    from chosen, (select id as before_id, started_at as before from workflow_executions) b
    where e.id = chosen.id and b.before_id = e.id
      -- Judged again on the row as it is once its lock is free: somebody may have cancelled it meanwhile.
      and (e.status = 'queued' or (e.status in ('running', 'cancelling') and e.locked_until < now()) or (e.status = 'waiting' and e.wakes_at <= $3))
    returning e.*, b.before is not null as resumed)
  select c.*, w.name as workflow_name, coalesce(c.definition, v.definition, '{}') as definition, t.subscription_plan as plan
  from claimed c join workflows w on w.id = c.workflow_id join tenants t on t.id = c.tenant_id
    left join workflow_versions v on v.workflow_id = c.workflow_id and v.version = c.workflow_version`;

export type RunRow = {
  id: string;
  node_id: string;
  path: string;
  status: NodeStatus;
  attempt: number;
  handles: string[];
  started_at: Date | null;
  completed_at: Date | null;
  value_ct: Buffer | null;
  cek_wrapped: Buffer | null;
  tmk_version: number | null;
  error_code: string | null;
  error_message: string | null;
  truncated: boolean;
};
export type Timer = { node_id: string; path: string; kind: 'delay' | 'retry'; fire_at: Date };

export async function loadRuns(pool: pg.Pool, id: string): Promise<{ runs: RunRow[]; timers: Timer[] }> {
  const [runs, timers] = await Promise.all([
    pool.query<RunRow>({
      name: 'workflow-runs',
      text: `select id, node_id, path, status, attempt, handles, started_at, completed_at, value_ct, cek_wrapped, tmk_version, error_code, error_message, truncated
             from workflow_node_executions where execution_id = $1`,
      values: [id],
    }),
    pool.query<Timer>({
      name: 'workflow-timers',
      text: 'select node_id, path, kind, fire_at from workflow_timers where execution_id = $1',
      values: [id],
    }),
  ]);
  return { runs: runs.rows, timers: timers.rows };
}

export type Commit = {
  runs: {
    id: string;
    node_id: string;
    node_name: string;
    node_type: string;
    path: string;
    iteration: number | null;
    status: NodeStatus;
    attempt: number;
    handles: string[];
    started_at: Date | null;
    completed_at: Date | null;
    error_code: string | null;
    error_message: string | null;
    truncated: boolean;
    sealed: SealedValue | null;
  }[];
  /** Timers that were set; those of other listed runs are gone. */
  timers: Timer[];
  operations: number;
  activeMs: number;
  /** The execution's own value, when it changed. */
  value?: SealedValue | undefined;
  responseRun?: string | undefined;
  /** What becomes of the execution: null while it is worked on. */
  leave: null | { status: 'waiting'; wakes_at: Date } | End;
};
export type End = {
  status: 'completed' | 'failed' | 'cancelled';
  completed_at: Date;
  error_code: string | null;
  error_message: string | null;
  /** The event about it, sealed; written if somebody wants it. */
  event?: {
    id: string;
    type: string;
    expires_at: Date;
    payload_ct: Uint8Array;
    cek_wrapped: Uint8Array;
    tmk_version: number;
    payload_bytes: number;
  };
};

/**
 * Writes a step of an execution, all in one statement. @returns how the execution stands (`cancelling` when somebody asked for it meanwhile), or null when
 * this worker doesn't have it any more: then nothing was written
 */
export async function commit(
  pool: pg.Pool,
  id: string,
  owner: string,
  { runs, timers, leave, ...step }: Commit,
): Promise<ExecutionStatus | null> {
  const base64 = (bytes: Uint8Array | undefined) => (bytes ? Buffer.from(bytes).toString('base64') : null);
  const ended = leave !== null && leave.status !== 'waiting' ? leave : null;
  const event = ended?.event;
  const { rows } = await pool.query<{ status: ExecutionStatus }>({
    name: 'workflow-commit',
    text: COMMIT,
    values: [
      ...[id, owner, step.operations, step.activeMs, step.responseRun ?? null],
      JSON.stringify(
        runs.map(({ sealed, ...run }) => ({
          ...run,
          value_ct: base64(sealed?.value_ct),
          cek_wrapped: base64(sealed?.cek_wrapped),
          tmk_version: sealed?.tmk_version ?? null,
        })),
      ),
      JSON.stringify(timers),
      ...[leave?.status ?? null, leave?.status === 'waiting' ? leave.wakes_at : null, ended?.completed_at ?? null],
      ...[ended?.error_code ?? null, ended?.error_message ?? null],
      ...[step.value?.value_ct ?? null, step.value?.cek_wrapped ?? null, step.value?.tmk_version ?? null],
      ...[event?.id ?? null, event?.type ?? null, event?.expires_at ?? null, event ? Buffer.from(event.payload_ct) : null],
      ...[event ? Buffer.from(event.cek_wrapped) : null, event?.tmk_version ?? null, event?.payload_bytes ?? null],
    ],
  });
  return rows[0]?.status ?? null;
}

const COMMIT = `
  with mine as (
    update workflow_executions set locked_until = now() + interval '${LOCK_SECONDS} seconds', operations = $3, active_ms = $4, response_run = coalesce($5::uuid, response_run),
      status = case when $8::text is null or (status = 'cancelling' and $8 = 'waiting') then status else $8 end, wakes_at = $9::timestamptz,
      locked_by = case when $8::text is null then locked_by end,
      completed_at = $10::timestamptz, execution_time_ms = floor(extract(epoch from $10::timestamptz - started_at) * 1000),
      error_code = $11::text, error_message = $12::text,
      value_ct = coalesce($13::bytea, value_ct), cek_wrapped = coalesce($14::bytea, cek_wrapped), tmk_version = coalesce($15::int, tmk_version)
    where id = $1 and locked_by = $2 returning id, tenant_id, sandbox, status, trigger_type),
  listed as (
    select r.*, m.id as execution_id, m.tenant_id, m.sandbox from mine m cross join jsonb_to_recordset($6::jsonb) as r(id uuid, node_id text, node_name text, node_type text, path text,
      iteration int, status text, attempt int, handles text[], started_at timestamptz, completed_at timestamptz, error_code text, error_message text, truncated boolean,
      value_ct text, cek_wrapped text, tmk_version int)),
  written as (
    insert into workflow_node_executions (id, tenant_id, sandbox, execution_id, node_id, node_name, node_type, status, attempt, iteration, path, handles,
      started_at, completed_at, duration_ms, value_ct, cek_wrapped, tmk_version, error_code, error_message, truncated)
    select id, tenant_id, sandbox, execution_id, node_id, node_name, node_type, status, attempt, iteration, path, handles, started_at, completed_at,
      floor(extract(epoch from completed_at - started_at) * 1000), decode(value_ct, 'base64'), decode(cek_wrapped, 'base64'), tmk_version, error_code, error_message, truncated
    from listed
    on conflict (execution_id, path, node_id) do update set status = excluded.status, attempt = excluded.attempt, handles = excluded.handles,
      completed_at = excluded.completed_at, duration_ms = excluded.duration_ms, error_code = excluded.error_code, error_message = excluded.error_message,
      truncated = excluded.truncated, value_ct = coalesce(excluded.value_ct, workflow_node_executions.value_ct),
      cek_wrapped = coalesce(excluded.cek_wrapped, workflow_node_executions.cek_wrapped), tmk_version = coalesce(excluded.tmk_version, workflow_node_executions.tmk_version)),
  set_timers as (
    insert into workflow_timers (id, tenant_id, sandbox, execution_id, node_id, path, kind, fire_at)
    select gen_random_uuid(), m.tenant_id, m.sandbox, m.id, t.node_id, t.path, t.kind, t.fire_at
    from mine m cross join jsonb_to_recordset($7::jsonb) as t(node_id text, path text, kind text, fire_at timestamptz)
    on conflict (execution_id, path, node_id) do update set kind = excluded.kind, fire_at = excluded.fire_at),
  fired as (
    delete from workflow_timers t using listed l where t.execution_id = l.execution_id and t.node_id = l.node_id and t.path = l.path
      and not exists (select from jsonb_to_recordset($7::jsonb) as s(node_id text, path text) where s.node_id = t.node_id and s.path = t.path)),
  ended as (delete from workflow_timers t using mine m where t.execution_id = m.id and m.status in ('completed', 'failed', 'cancelled')),
  told as (
    insert into events (id, tenant_id, sandbox, type, source_id, occurred_at, expires_at, payload_ct, cek_wrapped, tmk_version, payload_bytes)
    select $16::uuid, m.tenant_id, m.sandbox, $17::text, m.id, $10::timestamptz, $18::timestamptz, $19::bytea, $20::bytea, $21::int, $22::int from mine m
    where $16::uuid is not null and exists (select from event_subscriptions s where s.tenant_id = m.tenant_id and s.sandbox = m.sandbox and s.enabled and s.event_types @> array[$17::text]))
  select status from mine`;

/** Ends the runs of nodes that are in progress, of an execution that this worker has and is about to end. */
export const endRuns = (pool: pg.Pool, id: string, owner: string, now: Date) =>
  pool.query(
    `update workflow_node_executions n set status = 'cancelled', completed_at = $3 from workflow_executions e
     where e.id = $1 and e.locked_by = $2 and n.execution_id = e.id and n.status in ('running', 'pending')`,
    [id, owner, now],
  );

/** Keeps what this worker has. @returns how each stands; one that is missing was taken over */
export async function renew(pool: pg.Pool, owner: string, ids: readonly string[]): Promise<Map<string, ExecutionStatus>> {
  const { rows } = await pool.query<{ id: string; status: ExecutionStatus }>({
    name: 'workflow-renew',
    text: `update workflow_executions set locked_until = now() + interval '${LOCK_SECONDS} seconds' where id = any($1::uuid[]) and locked_by = $2 returning id, status`,
    values: [ids, owner],
  });
  return new Map(rows.map(({ id, status }) => [id, status]));
}

/** How what this worker has stands, between renewals. */
export async function statuses(pool: pg.Pool, owner: string, ids: readonly string[]): Promise<Map<string, ExecutionStatus>> {
  const { rows } = await pool.query<{ id: string; status: ExecutionStatus }>({
    name: 'workflow-statuses',
    text: 'select id, status from workflow_executions where id = any($1::uuid[]) and locked_by = $2',
    values: [ids, owner],
  });
  return new Map(rows.map(({ id, status }) => [id, status]));
}

/** Gives executions back at an orderly stop: another worker goes on at once. */
export const giveBack = (pool: pg.Pool, owner: string) =>
  pool.query(
    "update workflow_executions set locked_by = null, locked_until = 'epoch' where locked_by = $1 and status in ('running', 'cancelling')",
    [owner],
  );
