import { configOf, type ExecutionError, type NodeStatus, TRIGGER_NODE, type WorkflowNode } from '../definition.shared.ts';
import { doubleOf } from '../expressions/numbers.shared.ts';
import type { Scope } from '../expressions/reference.shared.ts';
import { caughtBy, type Link, reached, type Structure } from '../structure.shared.ts';

// What an execution may do next, from what its nodes have done: pure, so that a worker that takes an execution over decides what its predecessor would
// have. A node belongs to a frame: the workflow itself, or one iteration of a loop.

export type Failure = { node_id: string; code: ExecutionError; message: string };

/** One run of one node. */
export type Run = {
  id: string;
  node_id: string;
  /** The iterations it is in, outermost first, as `outer:2/inner:0`. */
  path: string;
  status: NodeStatus;
  attempt: number;
  handles: string[];
  input: unknown;
  output: unknown;
  error: { code: ExecutionError; message: string } | null;
  started_at: Date | null;
  completed_at: Date | null;
  truncated: boolean;
};

export type Frame = { path: string /** The loop it is an iteration of. */; loop: string | null; index: number; parent: Frame | null };
export const ROOT: Frame = { path: '', loop: null, index: 0, parent: null };

type LoopState = {
  items: unknown[];
  next: number;
  active: Set<number>;
  results: unknown[];
  failed: number;
  failure: Failure | null;
};

export type Graph = {
  structure: Structure;
  runs: Map<string, Run>;
  loops: Map<string, LoopState>;
  /** What failed in a frame and was handled nowhere in it, by the frame's path. */
  failures: Map<string, Failure>;
  /** Once the handler of the whole workflow began: only what follows it goes on. */
  rescue: ReadonlySet<string> | null;
  /** The nodes of a frame, by its loop. */
  members: ReadonlyMap<string, readonly string[]>;
  newRun: (node: WorkflowNode, frame: Frame, status: NodeStatus) => Run;
};

export const keyOf = (path: string, node: string): string => `${path} ${node}`;

export type Step = {
  /** Nodes whose turn it is, in the order of the definition. */
  start: Map<string, { node: WorkflowNode; frame: Frame }>;
  /** Runs that ended by this step itself: skipped nodes, finished loops, handlers. */
  changed: Set<Run>;
  done: boolean;
};

export function openGraph(structure: Structure, newRun: Graph['newRun']): Graph {
  const members = new Map<string, string[]>();
  for (const [id, loops] of structure.loops) {
    const of = loops.at(-1) ?? '';
    members.set(of, [...(members.get(of) ?? []), id]);
  }
  return { structure, runs: new Map(), loops: new Map(), failures: new Map(), rescue: null, members, newRun };
}

/** Works out what may begin now, and ends what ends by itself. */
export function advance(graph: Graph): Step {
  const step: Step = { start: new Map(), changed: new Set(), done: false };
  step.done = settleFrame(graph, ROOT, step);
  return step;
}

/** @returns whether everything in it has ended */
function settleFrame(graph: Graph, frame: Frame, step: Step): boolean {
  const members = graph.members.get(frame.loop ?? '') ?? [];
  for (;;) {
    let [moved, busy] = [false, false];
    const open: WorkflowNode[] = [];
    for (const id of members) {
      const node = graph.structure.nodes.get(id) as WorkflowNode;
      const run = graph.runs.get(keyOf(frame.path, id));
      if (run) {
        if (run.status !== 'running' && run.status !== 'pending') continue;
        if (settleLoop(graph, node, run, frame, step)) moved = true;
        else busy = true;
      } else if (!mayStart(graph, frame, id)) moved = skip(graph, node, frame, step);
      else {
        const turn = turnOf(graph, node, frame);
        if (turn === 'skip') moved = skip(graph, node, frame, step);
        else if (turn === 'wait') open.push(node);
        else {
          step.start.set(keyOf(frame.path, id), { node, frame });
          busy = true;
        }
      }
    }
    if (moved) continue;
    if (busy) return false;
    // All is quiet: handlers that nothing has needed are not needed any more, and what waits for them goes on without.
    for (const node of unneeded(graph, frame, open)) skip(graph, node, frame, step);
    if (open.length === 0) return true;
  }
}

/**
 * What can be given up once nothing moves: first handlers whose nodes have all ended, since skipping one may let a node run that another handler lists;
 * then the others, that of the workflow last; then everything.
 */
function unneeded({ runs }: Graph, { path }: Frame, open: readonly WorkflowNode[]): readonly WorkflowNode[] {
  const handlers = open.filter(({ type }) => type === 'error_handler');
  const own = handlers.filter((node) => configOf(node).scope === 'node');
  const over = own.filter((node) => caughtBy(node).every((id) => runs.has(keyOf(path, id))));
  return [over, own, handlers].find((list) => list.length > 0) ?? open;
}

function skip(graph: Graph, node: WorkflowNode, frame: Frame, step: Step): true {
  step.start.delete(keyOf(frame.path, node.id));
  step.changed.add(put(graph, node, frame, 'skipped'));
  return true;
}

export function put(graph: Graph, node: WorkflowNode, frame: Frame, status: NodeStatus): Run {
  const run = graph.newRun(node, frame, status);
  graph.runs.set(keyOf(frame.path, node.id), run);
  return run;
}

/** A node may begin when every edge into it is decided and one was taken: a join waits for all that may still come. */
function turnOf(graph: Graph, node: WorkflowNode, frame: Frame): 'wait' | 'skip' | 'run' {
  if (node.type === 'error_handler') return 'wait';
  const links = graph.structure.into.get(node.id) ?? [];
  const states = links.map((link) => edgeState(graph, link, frame));
  if (states.includes('open')) return 'wait';
  return states.includes('live') ? 'run' : 'skip';
}

function edgeState(graph: Graph, { source, handle }: Link, frame: Frame): 'open' | 'live' | 'dead' {
  if (source === frame.loop && handle === 'body') return 'live';
  const run = graph.runs.get(keyOf(frame.path, source));
  if (!run || run.status === 'running' || run.status === 'pending') return 'open';
  return (run.status === 'succeeded' || run.status === 'failed') && run.handles.includes(handle) ? 'live' : 'dead';
}

/** Nothing begins beside or below a failure that was not handled, but what follows the workflow's own handler. */
function mayStart(graph: Graph, frame: Frame, node: string): boolean {
  let top = node;
  for (let one: Frame | null = frame; one; one = one.parent) {
    if (one.parent && (graph.failures.has(one.path) || graph.loops.get(keyOf(one.parent.path, one.loop as string))?.failure)) return false;
    if (one.loop !== null) top = one.loop;
  }
  return !graph.failures.has('') || (graph.rescue?.has(top) ?? false);
}

/** Begins and ends iterations. @returns whether the loop ended */
function settleLoop(graph: Graph, node: WorkflowNode, run: Run, frame: Frame, step: Step): boolean {
  const key = keyOf(frame.path, node.id);
  const loop = graph.loops.get(key);
  if (!loop) return false;
  const { concurrency, onItemError = 'stop' } = configOf(node);
  const most = doubleOf(concurrency) ?? 1;
  const settle = (index: number) => {
    const child = iteration(frame, node.id, index);
    if (!settleFrame(graph, child, step)) return;
    loop.active.delete(index);
    const failure = graph.failures.get(child.path);
    loop.results[index] = failure ? { error: failure } : resultOf(graph, child);
    if (!failure) return;
    loop.failed++;
    if (onItemError !== 'continue') loop.failure ??= failure;
  };
  for (const index of [...loop.active]) settle(index);
  while (!loop.failure && loop.active.size < most && loop.next < loop.items.length && mayStart(graph, frame, node.id)) {
    loop.active.add(loop.next);
    settle(loop.next++);
  }
  if (loop.active.size > 0) return false;
  step.changed.add(run);
  if (loop.failure) {
    const { code, message } = loop.failure;
    end(run, 'failed', { error: { code, message }, output: summary(loop) });
    fail(graph, node, run, frame, step, loop.failure);
  } else if (loop.next < loop.items.length) end(run, 'cancelled', { output: summary(loop) });
  else end(run, 'succeeded', { output: summary(loop), handles: ['done'] });
  return true;
}

const summary = ({ results, failed }: LoopState) => ({ results: [...results], count: results.length, failed });

export const iteration = (parent: Frame, loop: string, index: number): Frame => ({
  path: `${parent.path === '' ? '' : `${parent.path}/`}${loop}:${index}`,
  loop,
  index,
  parent,
});

/** What an iteration leaves: the output of its last node, or of several by their ids. */
function resultOf(graph: Graph, frame: Frame): unknown {
  const last = (graph.members.get(frame.loop as string) ?? []).filter(
    (id) =>
      graph.structure.nodes.get(id)?.type !== 'error_handler' &&
      (graph.structure.from.get(id) ?? []).every(({ handle }) => handle === 'body'),
  );
  const outputs = last.map((id) => {
    const run = graph.runs.get(keyOf(frame.path, id));
    return [id, run?.status === 'succeeded' ? run.output : null] as const;
  });
  return outputs.length === 1 ? (outputs[0]?.[1] ?? null) : Object.fromEntries(outputs);
}

export function end(run: Run, status: NodeStatus, more: Partial<Run> = {}): void {
  Object.assign(run, { status, ...more });
}

/** The items of a loop are known: its iterations begin with the next step. */
export function openLoop(graph: Graph, frame: Frame, node: WorkflowNode, items: unknown[], begun = 0): void {
  const active = new Set(Array.from({ length: begun }, (_, i) => i));
  graph.loops.set(keyOf(frame.path, node.id), { items, next: begun, active, results: [], failed: 0, failure: null });
}

/**
 * What a failed run leads to (interface rule 62 §4.2): its error edge, else a handler that lists it, else the end of its iteration, else the handler of the
 * workflow, else the end.
 */
export function fail(graph: Graph, node: WorkflowNode, run: Run, frame: Frame, step: Step, failure: Failure): void {
  if ((graph.structure.from.get(node.id) ?? []).some(({ handle }) => handle === 'error')) {
    run.handles = ['error'];
    return;
  }
  // One that was given up already handles nothing any more.
  const waits = (handler: WorkflowNode) => graph.runs.get(keyOf(frame.path, handler.id))?.status !== 'skipped';
  const own = handlersIn(graph, frame).find((handler) => caughtBy(handler).includes(node.id) && waits(handler));
  if (own) {
    begin(graph, own, frame, step, failure);
    return;
  }
  if (graph.failures.has(frame.path)) return;
  graph.failures.set(frame.path, failure);
  if (frame.parent) return;
  const general = handlersIn(graph, frame).find((handler) => configOf(handler).scope !== 'node');
  if (!general || graph.runs.has(keyOf('', general.id))) return;
  graph.rescue = reached([general.id], graph.structure.from);
  begin(graph, general, frame, step, failure);
}

const handlersIn = ({ structure, members }: Graph, { loop }: Frame): WorkflowNode[] =>
  (members.get(loop ?? '') ?? []).map((id) => structure.nodes.get(id) as WorkflowNode).filter(({ type }) => type === 'error_handler');

/** A handler does nothing itself, and handles the first failure it gets. */
function begin(graph: Graph, handler: WorkflowNode, frame: Frame, step: Step, { node_id, code, message }: Failure): void {
  if (graph.runs.has(keyOf(frame.path, handler.id))) return;
  const run = put(graph, handler, frame, 'succeeded');
  end(run, 'succeeded', { output: { node_id, error_code: code, message }, handles: ['out'] });
  step.changed.add(run);
}

/** How the execution stands once its last step was done. */
export function outcomeOf(graph: Graph): { status: 'completed' } | { status: 'failed'; failure: Failure } {
  const failure = graph.failures.get('');
  if (!failure) return { status: 'completed' };
  for (const id of graph.rescue ?? []) {
    const node = graph.structure.nodes.get(id) as WorkflowNode;
    const last = (graph.structure.from.get(id) ?? []).length === 0;
    if (last && configOf(node).recover === true && graph.runs.get(keyOf('', id))?.status === 'succeeded') return { status: 'completed' };
  }
  return { status: 'failed', failure };
}

/** What references of a node in this frame resolve to: its own iteration first, then what is around it. */
export const scopeIn =
  (graph: Graph, frame: Frame): Scope =>
  (id) => {
    const inside = graph.structure.loops.get(id);
    if (!inside) return undefined;
    for (let one: Frame | null = frame; one; one = one.parent) {
      if (one.loop === id && one.parent)
        return { item: graph.loops.get(keyOf(one.parent.path, id))?.items[one.index] ?? null, index: one.index };
      if ((one.loop ?? undefined) === inside.at(-1)) return graph.runs.get(keyOf(one.path, id))?.output;
    }
    return undefined;
  };

/** What flows into a node: the output before it, or of several that ran, each with its node (interface rule 62 §3.2). */
export function inputOf(graph: Graph, node: WorkflowNode, frame: Frame): unknown {
  const links = (graph.structure.into.get(node.id) ?? []).filter((link) => edgeState(graph, link, frame) === 'live');
  const outputs = [...new Set(links.map(({ source }) => source))].map((nodeId) => ({
    nodeId,
    output: scopeIn(graph, frame)(nodeId) ?? null,
  }));
  return (graph.structure.into.get(node.id) ?? []).length > 1 ? outputs : (outputs[0]?.output ?? null);
}

/** The trigger has run before anything else. */
export function putTrigger(graph: Graph, output: unknown): Run | undefined {
  const node = graph.structure.nodes.get(TRIGGER_NODE);
  if (!node || graph.runs.has(keyOf('', TRIGGER_NODE))) return undefined;
  const run = put(graph, node, ROOT, 'succeeded');
  end(run, 'succeeded', { output, handles: ['out'] });
  return run;
}
