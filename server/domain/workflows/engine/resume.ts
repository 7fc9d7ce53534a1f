import { setImmediate as turn } from 'node:timers/promises';
import { configOf, type ExecutionError, TRIGGER_NODE, type WorkflowNode } from '../definition.shared.ts';
import { KINDS } from '../nodes/kinds.ts';
import { faultOf, type NodeCall, type NodeResult } from '../nodes/node-call.ts';
import { callOf, type Drive, frameOf, inputBytes } from './drive-state.ts';
import { type Failure, fail, type Graph, iteration, keyOf, openLoop, type Run, type Step } from './graph.ts';
import { loadRuns } from './store.ts';
import { kept, type NodeValue, openValue } from './values.ts';

/** What an earlier worker wrote of it. Runs that were in flight are made again, with the same key. @returns runs that end by that */
export async function resume(drive: Drive): Promise<ReadonlySet<Run>> {
  const { execution } = drive.held;
  const { graph, timers } = drive;
  const stored = await loadRuns(drive.tools.pool, execution.id);
  const values: (NodeValue | null)[] = [];
  for (const row of stored.runs) {
    values.push(row.value_ct && row.cek_wrapped && row.tmk_version !== null ? await openValue<NodeValue>(execution, row as never) : null);
    await turn();
  }
  for (const [i, row] of stored.runs.entries()) {
    const { id, node_id, path, status, attempt, handles, started_at, completed_at, truncated } = row;
    const large = drive.value.large?.[keyOf(path, node_id)];
    const output = node_id === TRIGGER_NODE ? drive.value.input : large !== undefined ? large : (values[i]?.output ?? null);
    const error = row.error_code === null ? null : { code: row.error_code as ExecutionError, message: row.error_message ?? '' };
    const run: Run = {
      id,
      node_id,
      path,
      status,
      attempt,
      handles,
      input: values[i]?.input ?? null,
      output,
      error,
      started_at,
      completed_at,
      truncated,
    };
    graph.runs.set(keyOf(path, node_id), run);
    if (output !== null && node_id !== TRIGGER_NODE) drive.state.set(keyOf(path, node_id), kept(output).size);
    const node = graph.structure.nodes.get(node_id);
    if (node) drive.inputs += inputBytes(node, run.input);
  }
  for (const timer of stored.timers) timers.set(keyOf(timer.path, timer.node_id), timer);
  restoreFailures(drive);
  return restoreLoops(drive);
}

/** A failure that nothing handled still stands. */
function restoreFailures({ graph }: Drive): void {
  for (const run of graph.runs.values()) {
    const node = graph.structure.nodes.get(run.node_id);
    if (!node || run.status !== 'failed' || run.handles.length > 0) continue;
    const none: Step = { start: new Map(), changed: new Set(), done: false };
    fail(graph, node, run, frameOf(run.path), none, failureOf(run));
  }
  // The workflow's own handler has begun already: only what follows it goes on.
  if (!graph.failures.has('') || graph.rescue) return;
  const handler = [...graph.runs.values()].find(
    ({ path, node_id, status }) =>
      path === '' &&
      status === 'succeeded' &&
      graph.structure.nodes.get(node_id)?.type === 'error_handler' &&
      configOf(graph.structure.nodes.get(node_id) as WorkflowNode).scope !== 'node',
  );
  if (handler) graph.rescue = reachedFrom(graph, handler.node_id);
}

function reachedFrom(graph: Graph, id: string): Set<string> {
  const seen = new Set<string>();
  for (const open = [id]; open.length > 0; ) {
    const next = open.pop() as string;
    if (seen.has(next)) continue;
    seen.add(next);
    for (const { target } of graph.structure.from.get(next) ?? []) open.push(target);
  }
  return seen;
}

export const failureOf = (run: Run): Failure => ({
  node_id: run.node_id,
  code: run.error?.code ?? 'invalid_config',
  message: run.error?.message ?? '',
});

/** Loops that were under way: their items again, and how many iterations have begun. The outer ones first: the items of an inner one may come from theirs. */
function restoreLoops(drive: Drive): ReadonlySet<Run> {
  const { graph } = drive;
  const step: Step = { start: new Map(), changed: new Set(), done: false };
  const loops = [...graph.runs.values()]
    .filter(({ status, node_id }) => status === 'running' && graph.structure.nodes.get(node_id)?.type === 'loop')
    .sort((a, b) => a.path.length - b.path.length);
  for (const run of loops) {
    if (run.status !== 'running') continue;
    const node = graph.structure.nodes.get(run.node_id) as WorkflowNode;
    const frame = frameOf(run.path);
    const prefix = iteration(frame, node.id, 0).path.slice(0, -1);
    const inside = [...graph.runs.values()].filter(({ path }) => path.startsWith(prefix));
    const result = itemsOf(callOf(drive, node, run, frame));
    if (result.status !== 'looping') {
      // Without its items none of its iterations can go on.
      for (const one of inside) {
        if (one.status !== 'running') continue;
        drive.timers.delete(keyOf(one.path, one.node_id));
        step.changed.add(Object.assign(one, { status: 'cancelled' }));
      }
      step.changed.add(Object.assign(run, { status: 'failed', handles: [], error: result.fault }));
      fail(graph, node, run, frame, step, failureOf(run));
      continue;
    }
    const begun = inside.reduce((most, { path }) => Math.max(most, Number.parseInt(path.slice(prefix.length), 10) + 1), 0);
    openLoop(graph, frame, node, result.items, begun);
  }
  return step.changed;
}

type Items = Extract<NodeResult, { status: 'looping' | 'failed' }>;

function itemsOf(call: NodeCall): Items {
  try {
    return KINDS.loop(call) as Items;
  } catch (error) {
    const fault = faultOf(error);
    if (!fault) throw error;
    return { status: 'failed', fault };
  }
}
