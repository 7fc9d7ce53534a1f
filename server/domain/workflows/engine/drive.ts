import { newId } from '#server/kernel/ids.ts';
import { jsonOfColumn } from '#server/kernel/lossless-json.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { log } from '#server/platform/log.ts';
import { configOf, graphOf, type NodeStatus, type WorkflowNode } from '../definition.shared.ts';
import { doubleOf } from '../expressions/numbers.shared.ts';
import type { NodeResult } from '../nodes/node-call.ts';
import { structureOf } from '../structure.shared.ts';
import { type Drive, type Ended, frameOf, type Held, hold, inputBytes, type Tools } from './drive-state.ts';
import { finish, finishUnopened, write } from './ending.ts';
import { advance, type Frame, fail, inputOf, keyOf, openGraph, openLoop, put, putTrigger, type Run, type Step } from './graph.ts';
import { isOver, MOST_STATE, MOST_VALUES, OVER } from './json-size.ts';
import { launch } from './launch.ts';
import { failureOf, resume } from './resume.ts';
import { type ExecutionValue, kept, MOST_INPUTS, openValue } from './values.ts';

const AT_ONCE = 5;
const MOST_RUNS = 1_000;
const LOST_TOO_OFTEN = 3;
const LONGEST_LIFE_MS = 35 * 86_400_000;
const CANCEL_MS = 30_000;
const STEP_BACK_MS = 5_000;

/** Carries an execution on until it ends, or only timers are left. Everything it did is written before it does the next thing. */
export async function drive(held: Held, tools: Tools): Promise<void> {
  const drive = await open(held, tools);
  if (!drive) return;
  try {
    await run(drive);
  } finally {
    clearTimeout(drive.clockOut);
  }
}

async function open(held: Held, tools: Tools): Promise<Drive | null> {
  const { execution, abandoned } = held;
  const structure = structureOf(graphOf(jsonOfColumn(execution.definition)));
  const graph = openGraph(structure, (node, frame, status) => blank(node, frame, status, tools.clock()));
  const drive: Drive = {
    ...{ held, tools, graph, value: { input: null }, timers: new Map(), tasks: new Map(), dirty: new Set() },
    ...{
      operations: execution.operations,
      state: new Map(),
      inputs: 0,
      steppedBack: false,
      largeChanged: false,
      responseRun: undefined,
      stop: null,
    },
    ...{ inFlight: new AbortController(), began: performance.now(), clockOut: undefined, wake: () => {} },
  };
  abandoned.signal.addEventListener('abort', () => drive.inFlight.abort(), { once: true });
  held.cancel = () => {
    if (drive.stop) return;
    drive.stop = { status: 'cancelled', code: 'cancelled', message: 'The run was cancelled.' };
    setTimeout(() => drive.inFlight.abort(), CANCEL_MS).unref();
    drive.wake();
  };
  limitTime(drive);
  try {
    drive.value = await openValue<ExecutionValue>(execution, execution);
    if (execution.resumed || execution.retry_of !== null) for (const changed of await resume(drive)) settled(drive, changed);
  } catch (error) {
    clearTimeout(drive.clockOut);
    log.warn({ err: error, execution_id: execution.id }, 'an execution could not be opened');
    if (drive.stop) {
      await finishUnopened(drive, error);
      return null;
    }
    // A workspace that sealed its key goes on when it opens it again, until the run is too old: the lease runs out, and counts as no loss.
    await tools.pool.query(
      "update workflow_executions set status = 'waiting', wakes_at = now() + interval '5 minutes', locked_by = null where id = $1 and locked_by = $2 and status = 'running'",
      [execution.id, tools.owner],
    );
    return null;
  }
  const trigger = putTrigger(graph, drive.value.input);
  if (trigger) drive.dirty.add(Object.assign(trigger, { completed_at: trigger.started_at }));
  hold(drive);
  return drive;
}

const blank = (node: WorkflowNode, frame: Frame, status: NodeStatus, now: Date): Run => ({
  ...{ id: newId(), node_id: node.id, path: frame.path, status, attempt: 1, handles: [], input: null, output: null, error: null },
  ...{
    started_at: status === 'skipped' ? null : now,
    completed_at: status === 'running' || status === 'skipped' ? null : now,
    truncated: false,
  },
});

/** The time that it is worked on is limited; delays don't count (interface rule 62 §4.2). */
function limitTime(drive: Drive): void {
  const { execution } = drive.held;
  const left = execution.timeout_seconds * 1_000 - execution.active_ms;
  const timedOut = () => {
    drive.stop ??= {
      status: 'failed',
      code: 'execution_timeout',
      message: `The run took longer than ${execution.timeout_seconds} seconds.`,
    };
    drive.inFlight.abort();
    drive.wake();
  };
  drive.clockOut = setTimeout(timedOut, Math.max(0, left));
  if (drive.tools.clock().getTime() - execution.created_at.getTime() > LONGEST_LIFE_MS)
    drive.stop ??= { status: 'failed', code: 'execution_timeout', message: 'The run is older than 35 days, the limit.' };
  if (execution.lost >= LOST_TOO_OFTEN)
    drive.stop ??= { status: 'failed', code: 'worker_lost', message: 'Three workers were lost while they ran it.' };
  if (execution.status === 'cancelling') drive.held.cancel();
}

async function run(drive: Drive): Promise<void> {
  const { held, tasks } = drive;
  if (!drive.stop && !held.execution.resumed) await affordable(drive);
  while (!held.abandoned.signal.aborted) {
    if (!drive.stop && stepsBack(drive)) {
      if (tasks.size === 0) return sleep(drive, drive.tools.clock().getTime() + STEP_BACK_MS);
      await somethingEnded(drive);
      continue;
    }
    const turn = drive.stop ? { done: true, launched: [] } : await nextTurn(drive);
    if (turn.done ? tasks.size === 0 : drive.stop && tasks.size === 0) return finish(drive);
    if (!drive.stop && turn.launched.length === 0 && tasks.size === 0) {
      if (drive.timers.size > 0) return sleep(drive);
      log.error({ execution_id: held.execution.id }, 'an execution has nothing to do and has not ended');
      drive.stop = { status: 'failed', code: 'invalid_config', message: 'The definition leads nowhere.' };
      continue;
    }
    if (drive.dirty.size > 0) {
      const status = await write(drive, null);
      if (status === null || held.abandoned.signal.aborted) return;
      if (status === 'cancelling') held.cancel();
    }
    if (!drive.stop) for (const key of turn.launched) launch(drive, key);
    if (tasks.size > 0) await somethingEnded(drive);
  }
}

/** Whether it begins nothing more for now, so that there is memory for others. */
const stepsBack = (drive: Drive): boolean => (drive.steppedBack ||= drive.tools.room.stepsBack(drive.held.execution.id));

/** What is to be launched now: attempts whose wait is over, what a lost worker had in flight, and what the graph says. */
async function nextTurn(drive: Drive): Promise<{ done: boolean; launched: string[] }> {
  const { graph, tasks } = drive;
  const launched = firedTimers(drive);
  const step = advance(graph);
  for (const changed of step.changed) settled(drive, changed);
  for (const key of interrupted(drive)) if (!launched.includes(key) && tasks.size + launched.length < AT_ONCE) launched.push(key);
  for (const [key, { node, frame }] of step.start) {
    if (tasks.size + launched.length >= AT_ONCE || !(await meterNode(drive))) break;
    drive.dirty.add(put(graph, node, frame, 'running'));
    launched.push(key);
  }
  return { done: step.done, launched };
}

/** Waits for a node, for a timer, or for somebody who wants the run to end. */
async function somethingEnded(drive: Drive): Promise<void> {
  const { tasks, timers, tools } = drive;
  const woken = new Promise<null>((resolve) => {
    drive.wake = () => resolve(null);
  });
  const next = Math.min(...[...timers.values()].map(({ fire_at }) => fire_at.getTime() - tools.clock().getTime()));
  const alarm = Number.isFinite(next) ? setTimeout(() => drive.wake(), Math.min(Math.max(next, 0), 5_000)) : undefined;
  // A run that is ending waits for what is in flight, as long as that may take.
  const ended = await Promise.race([...tasks.values(), ...(drive.stop ? [] : [woken])]);
  clearTimeout(alarm);
  if (drive.held.abandoned.signal.aborted) return;
  if (ended) apply(drive, ended);
  // What ended at the same moment is written together.
  for (const [key, task] of [...tasks]) {
    const also = await Promise.race([task, null]);
    if (also && tasks.has(key)) apply(drive, also);
  }
}

/** Whether what the month has left covers the nodes of the definition, before any of them runs. */
async function affordable(drive: Drive): Promise<boolean> {
  const { execution } = drive.held;
  const nodes = [...drive.graph.structure.nodes.values()].filter(({ type }) => type !== 'trigger').length;
  if (await drive.tools.meter.covers(execution, nodes)) return true;
  drive.stop = {
    status: 'failed',
    code: 'operations_quota_exceeded',
    message: 'The month has fewer workflow operations left than the workflow has nodes.',
  };
  return false;
}

async function meterNode(drive: Drive): Promise<boolean> {
  if (drive.operations >= MOST_RUNS) {
    drive.stop ??= { status: 'failed', code: 'loop_limit', message: `A run can run ${MOST_RUNS} nodes.` };
    return false;
  }
  if (!(await drive.tools.meter.take(drive.held.execution))) {
    drive.stop ??= { status: 'failed', code: 'operations_quota_exceeded', message: 'The workflow operations of this month are used up.' };
    return false;
  }
  drive.operations++;
  return true;
}

/** Delays that are over, and attempts whose wait is. */
function firedTimers(drive: Drive): string[] {
  const launched: string[] = [];
  const now = drive.tools.clock();
  for (const [key, timer] of drive.timers) {
    const run = drive.graph.runs.get(key);
    if (timer.fire_at > now || !run || drive.tasks.has(key) || drive.tasks.size + launched.length >= AT_ONCE) continue;
    drive.timers.delete(key);
    drive.dirty.add(run);
    if (timer.kind === 'retry') launched.push(key);
    else {
      Object.assign(run, { status: 'succeeded', handles: ['out'], completed_at: now, output: { resumed_at: now.toISOString() } });
    }
  }
  return launched;
}

/** Runs that were in flight when their worker was lost. */
function interrupted(drive: Drive): string[] {
  return [...drive.graph.runs]
    .filter(([key, run]) => run.status === 'running' && !drive.tasks.has(key) && !drive.timers.has(key) && !drive.graph.loops.has(key))
    .map(([key]) => key);
}

function apply(drive: Drive, { key, result, applied }: Ended): void {
  applyResult(drive, key, result);
  applied();
}

/** What a node's run came to. */
function applyResult(drive: Drive, key: string, result: NodeResult): void {
  const { graph, tools } = drive;
  drive.tasks.delete(key);
  const run = graph.runs.get(key) as Run;
  const node = graph.structure.nodes.get(run.node_id) as WorkflowNode;
  const frame = frameOf(run.path);
  const now = tools.clock();
  drive.dirty.add(run);
  run.input = shownInput(drive, node, run.input, result.input !== undefined ? result.input : inputOf(graph, node, frame));
  if (result.status === 'looping') {
    openLoop(graph, frame, node, result.items);
    return;
  }
  if (result.status === 'waiting') {
    run.output = null;
    drive.timers.set(key, { node_id: node.id, path: run.path, kind: 'delay', fire_at: result.until });
    return;
  }
  if (result.status === 'failed' && drive.stop && drive.inFlight.signal.aborted) {
    Object.assign(run, { status: 'cancelled', completed_at: now, error: result.fault });
    return;
  }
  if (result.status === 'failed' && retries(drive, key, node, run, result)) return;
  run.completed_at = now;
  run.output = result.output ?? null;
  run.truncated = result.truncated ?? false;
  if (result.status === 'succeeded') Object.assign(run, { status: 'succeeded', handles: result.handles, error: null });
  else Object.assign(run, { status: 'failed', handles: [], error: result.fault });
  if (node.type === 'set_response' && run.status === 'succeeded') drive.responseRun = run.id;
  remember(drive, key, run);
  if (run.status !== 'failed') return;
  const step: Step = { start: new Map(), changed: new Set(), done: false };
  fail(graph, node, run, frame, step, failureOf(run));
  for (const changed of step.changed) settled(drive, changed);
}

/** Sets the timer of the next attempt. @returns false when there is none (interface rule 62 §3.1) */
function retries(
  drive: Drive,
  key: string,
  node: WorkflowNode,
  run: Run,
  { retry, fault }: Extract<NodeResult, { status: 'failed' }>,
): boolean {
  const config = (configOf(node).retry ?? {}) as { on?: string[]; [key: string]: unknown };
  const { on = ['timeout', 'network', '5xx', '429'] } = config;
  const [attempts, delayMs, factor] = [doubleOf(config.attempts) ?? 0, doubleOf(config.delayMs) ?? 1_000, doubleOf(config.factor) ?? 2];
  if (!retry || drive.stop || run.attempt > attempts || !on.includes(retry.reason)) return false;
  const wait = Math.max(delayMs * factor ** (run.attempt - 1), retry.afterMs);
  run.attempt++;
  run.error = fault;
  drive.timers.set(key, { node_id: node.id, path: run.path, kind: 'retry', fire_at: new Date(drive.tools.clock().getTime() + wait) });
  return true;
}

/** A run that ended without being run: its times, and its operation if it is a handler. */
function settled(drive: Drive, run: Run): void {
  if (run.status !== 'skipped') run.completed_at ??= drive.tools.clock();
  const node = drive.graph.structure.nodes.get(run.node_id);
  if (node?.type === 'error_handler' && run.status === 'succeeded') {
    drive.operations++;
    void drive.tools.meter.take(drive.held.execution);
  }
  if (run.status === 'skipped' && run.path !== '') return;
  drive.dirty.add(run);
  if (node?.type === 'loop') remember(drive, keyOf(run.path, run.node_id), run);
}

/** What a node was given, as people see it: left out once there is too much of it in the run. Callers get the input of set_response, so that is whole. */
function shownInput(drive: Drive, node: WorkflowNode, earlier: unknown, input: unknown): unknown {
  drive.inputs -= inputBytes(node, earlier); // of the attempt before, which it replaces
  const value = node.type === 'set_response' ? input : kept(input).value;
  const fits = drive.inputs + inputBytes(node, value) <= MOST_INPUTS;
  const shown = fits ? value : `[left out: the inputs of this run are larger than ${MOST_INPUTS / 1_048_576} MiB together]`;
  drive.inputs += inputBytes(node, shown);
  return shown;
}

/** Counts what is kept, and keeps what is too large for its own row with the execution. */
function remember(drive: Drive, key: string, run: Run): void {
  const { size, cut } = kept(run.output);
  drive.state.set(key, size);
  hold(drive);
  const problem = stateProblem(drive);
  if (problem) drive.stop ??= { status: 'failed', code: 'state_too_large', message: problem };
  if (cut) run.truncated = true;
  if (cut && !problem) {
    drive.value.large = { ...drive.value.large, [key]: run.output };
    drive.largeChanged = true;
  }
}

function stateProblem({ state }: Drive): string | null {
  let [bytes, values] = [0, 0];
  for (const size of state.values()) [bytes, values] = [bytes + size.bytes, values + size.values];
  if (bytes > MOST_STATE) return 'The outputs of the run are larger than 5 MiB together, the limit. Pass on only what later steps need.';
  if ([...state.values()].some(isOver)) return OVER;
  return values > MOST_VALUES
    ? `The outputs of the run have more than ${grouped(MOST_VALUES)} values together, the limit. Pass on only what later steps need.`
    : null;
}

async function sleep(drive: Drive, latest = Number.POSITIVE_INFINITY): Promise<void> {
  const wakes_at = new Date(Math.min(latest, ...[...drive.timers.values()].map(({ fire_at }) => fire_at.getTime())));
  const status = await write(drive, { status: 'waiting', wakes_at });
  if (status !== 'cancelling') return;
  // Cancelled meanwhile: nothing is in flight any more.
  drive.stop = { status: 'cancelled', code: 'cancelled', message: 'The run was cancelled.' };
  await finish(drive, true);
}
