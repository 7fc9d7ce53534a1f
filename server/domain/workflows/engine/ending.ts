import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { EVENT_LIFE_MS, sealPayload } from '#server/domain/events/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { log } from '#server/platform/log.ts';
import { titleOf, type WorkflowNode } from '../definition.shared.ts';
import { type Drive, frameOf } from './drive-state.ts';
import { outcomeOf, type Run } from './graph.ts';
import { type Claimed, type Commit, commit, type End, endRuns } from './store.ts';
import { kept, type SealedValue, sealValue } from './values.ts';

export async function finish(drive: Drive, unlocked = false): Promise<void> {
  const { graph, held, tools } = drive;
  const now = tools.clock();
  for (const run of graph.runs.values())
    if (run.status === 'running' || run.status === 'pending') {
      Object.assign(run, { status: 'cancelled', completed_at: now });
      drive.dirty.add(run);
    }
  drive.timers.clear();
  const outcome = drive.stop
    ? { status: drive.stop.status, failure: { node_id: null, ...drive.stop } }
    : { failure: null, ...outcomeOf(graph) };
  const { status, failure } = outcome;
  if (drive.value.large) {
    drive.value = { input: drive.value.input };
    drive.largeChanged = true;
  }
  const failedRun = [...graph.runs.values()].find((run) => run.status === 'failed' && run.handles.length === 0);
  const code = failure?.code ?? null;
  const end: End = {
    status,
    completed_at: now,
    error_code: status === 'completed' ? null : code,
    error_message: status === 'completed' ? null : (failure?.message ?? null),
  };
  if (status !== 'cancelled') {
    const event = await eventOf(drive, end, failure?.node_id ?? failedRun?.node_id ?? null).catch((error: unknown) => {
      log.warn({ err: error, execution_id: held.execution.id }, 'the event of an execution could not be sealed');
      return undefined;
    });
    if (event) end.event = event;
  }
  if (unlocked)
    await tools.pool.query(
      "update workflow_executions set locked_by = $2, locked_until = now() + interval '1 minute' where id = $1 and locked_by is null and status = 'cancelling'",
      [held.execution.id, tools.owner],
    );
  await write(drive, end);
}

/** Ends a run whose values can't be opened, such as of a workspace that is sealed: what it did stays as it was written. */
export async function finishUnopened(drive: Drive, cause: unknown): Promise<void> {
  const { held, tools, stop, graph } = drive;
  const why =
    cause instanceof TenantKeyUnavailable
      ? 'It waited for the key of the workspace, which is unavailable: restore the key, then retry the run.'
      : 'Its values could not be opened.';
  if (stop?.status === 'failed') drive.stop = { ...stop, message: `${stop.message} ${why}` };
  // Nothing is sealed again.
  graph.runs.clear();
  drive.dirty.clear();
  drive.value = { input: null };
  await endRuns(tools.pool, held.execution.id, tools.owner, tools.clock());
  await finish(drive);
}

/** The data of workflow.execution.* (interface rule 60 §3.1): no input or output of any node. */
async function eventOf(
  { held: { execution }, operations }: Drive,
  { status, completed_at, error_message }: End,
  failed_node_id: string | null,
): Promise<End['event']> {
  const { tenant_id, sandbox, workflow_id, workflow_name, workflow_version, trigger_type, started_at } = execution;
  const id = newId();
  const data = {
    ...{ execution_id: execution.id, workflow_id, workflow_name, workflow_version, status, trigger_type },
    ...{
      started_at: started_at.toISOString(),
      completed_at: completed_at.toISOString(),
      execution_time_ms: completed_at.getTime() - started_at.getTime(),
    },
    ...{ error_message, failed_node_id: status === 'failed' ? failed_node_id : null, operations },
  };
  const sealed = await sealPayload({ id, tenant_id, sandbox }, data);
  return { id, type: `workflow.execution.${status}`, expires_at: new Date(completed_at.getTime() + EVENT_LIFE_MS), ...sealed };
}

/** Commits what has happened since the last time. */
export async function write(drive: Drive, leave: Commit['leave']): Promise<Awaited<ReturnType<typeof commit>>> {
  const { held, tools, graph } = drive;
  const { execution } = held;
  const runs = await Promise.all(
    [...drive.dirty].map(async (run) => {
      const node = graph.structure.nodes.get(run.node_id) as WorkflowNode;
      const { id, node_id, path, status, attempt, handles, started_at, completed_at, truncated } = run;
      const sealed = run.input === null && run.output === null ? null : await sealRun(execution, run);
      return {
        ...{ id, node_id, node_name: titleOf(node), node_type: node.type, path, iteration: path === '' ? null : frameOf(path).index },
        ...{ status, attempt, handles, started_at, completed_at, truncated, sealed },
        ...{ error_code: run.error?.code ?? null, error_message: run.error?.message.slice(0, 1_000) ?? null },
      };
    }),
  );
  drive.dirty.clear();
  const value: SealedValue | undefined = drive.largeChanged ? await sealValue(execution, execution.id, drive.value) : undefined;
  drive.largeChanged = false;
  const active = execution.active_ms + Math.round(performance.now() - drive.began);
  const timers = [...drive.timers.values()];
  const responseRun = drive.responseRun;
  return commit(tools.pool, execution.id, tools.owner, {
    runs,
    timers,
    operations: drive.operations,
    activeMs: active,
    value,
    responseRun,
    leave,
  });
}

const sealRun = (execution: Claimed, run: Run): Promise<SealedValue> =>
  sealValue(execution, run.id, { input: kept(run.input).value, output: kept(run.output).value });
