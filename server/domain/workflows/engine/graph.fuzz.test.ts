import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { newId } from '#server/kernel/ids.ts';
import { THOROUGH } from '#server/testing/thorough.ts';
import { configOf, type Definition, type NodeStatus, type WorkflowNode } from '../definition.shared.ts';
import { isPublishable, problemsOf } from '../publishable.shared.ts';
import { structureOf } from '../structure.shared.ts';
import {
  advance,
  end,
  type Frame,
  fail,
  type Graph,
  iteration,
  keyOf,
  openGraph,
  openLoop,
  outcomeOf,
  put,
  putTrigger,
  ROOT,
  type Run,
  type Step,
} from './graph.ts';

// The graph of an execution beside a naive interpreter: generated definitions with branches, joins, failures, handlers and loops in loops. The interpreter
// knows nothing of time; the graph gets its nodes' ends in any order.

/** How every node ends, by its id and where it runs: a function, so that both sides ask the same. */
type Fate = { fails: boolean; takes: number; items: number };
type Plan = { definition: Definition; fate: (node: string, path: string) => Fate };

const spread = (text: string, seed: number): number => {
  let hash = seed >>> 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
  return (hash ^ (hash >>> 12)) >>> 0;
};

const TYPES = ['transform', 'transform', 'condition', 'router', 'loop'] as const;
const CONFIGS: Record<string, Record<string, unknown>> = {
  transform: { template: 1 },
  condition: { expression: 'true' },
  router: {
    match: 'all',
    routes: [
      { id: 'x', expression: 'true' },
      { id: 'y', expression: 'true' },
    ],
  },
  loop: { items: [1], concurrency: 2 },
};

/** Nodes in an order in which edges only lead forwards. */
function planOf(seed: number, failing: number): Plan {
  let drawn = 0;
  const draw = (below: number) => spread(`draw ${drawn++}`, seed) % below;
  const nodes: WorkflowNode[] = [{ id: 'trigger-node', type: 'trigger', data: { config: { triggerType: 'manual' } } }];
  const edges: Definition['edges'] = [];
  const link = (source: string, target: string, sourceHandle: string) =>
    edges.push({ id: `e${edges.length}`, source, target, sourceHandle });
  const handlesOf = (type: string): string[] =>
    type === 'condition'
      ? ['true', 'false']
      : type === 'router'
        ? ['x', 'y', 'default']
        : type === 'loop'
          ? ['done', 'done', 'error']
          : type === 'transform'
            ? ['out', 'out', 'out', 'error']
            : ['out'];
  const make = (first: { id: string; handle: string }, depth: number, size: number) => {
    const before: { id: string; type: string }[] = [];
    for (let i = 0; i < size; i++) {
      const wished = TYPES[draw(depth === 0 ? TYPES.length - 1 : TYPES.length)] as string;
      const caught = before.filter(({ type }) => type === 'transform').map(({ id }) => id);
      const handles = i > 0 && caught.length > 0 && draw(6) === 0;
      const type = handles ? 'error_handler' : wished;
      const id = `n${nodes.length}`;
      const config = handles
        ? { scope: 'node', catch: [caught[draw(caught.length)]] }
        : type === 'loop'
          ? { ...CONFIGS.loop, onItemError: draw(2) ? 'continue' : 'stop' }
          : CONFIGS[type];
      nodes.push({ id, type, data: { config: config as Record<string, unknown> } });
      if (!handles) {
        // Each is reached somehow: a node without edges belongs to no body.
        const count = edges.length;
        for (const one of before) if (draw(3) === 0) link(one.id, id, handlesOf(one.type)[draw(handlesOf(one.type).length)] as string);
        if (edges.length === count || draw(3) === 0) link(first.id, id, first.handle);
      }
      before.push({ id, type });
      if (type === 'loop') make({ id, handle: 'body' }, depth - 1, 1 + draw(3));
    }
  };
  make({ id: 'trigger-node', handle: 'out' }, 2, 2 + draw(7));
  const fate = (node: string, path: string): Fate => {
    const n = spread(`${node} ${path}`, seed);
    return { fails: n % 100 < failing, takes: (n >>> 8) % 8, items: (n >>> 16) % 4 };
  };
  return { definition: { nodes, edges }, fate };
}

const taken = (node: WorkflowNode, { takes }: Fate): string[] => {
  if (node.type === 'condition') return [takes % 2 ? 'true' : 'false'];
  if (node.type === 'router')
    return takes % 4 === 0 ? ['default'] : ['x', 'y'].filter((_, i) => (takes >> i) & 1).concat(takes % 4 === 0 ? ['default'] : []);
  return ['out'];
};

type States = Map<string, NodeStatus>;

/** Ends nodes in an order that `order` decides; up to five run at once. */
function simulated({ definition, fate }: Plan, order: number): { states: States; graph: Graph; steps: number } {
  const structure = structureOf(definition);
  const blank = (node: WorkflowNode, frame: Frame, status: NodeStatus): Run => ({
    ...{ id: newId(), node_id: node.id, path: frame.path, status, attempt: 1, handles: [], input: null, output: null, error: null },
    ...{ started_at: null, completed_at: null, truncated: false },
  });
  const graph = openGraph(structure, blank);
  putTrigger(graph, {});
  const inFlight: { node: WorkflowNode; frame: Frame }[] = [];
  for (let steps = 0; ; steps++) {
    assert.ok(steps < 5_000, 'it ends');
    const step = advance(graph);
    for (const one of step.start.values()) {
      if (inFlight.length >= 5) break;
      put(graph, one.node, one.frame, 'running');
      inFlight.push(one);
    }
    if (inFlight.length === 0) {
      assert.ok(step.done, 'nothing is left to do only when all is done');
      const states = new Map([...graph.runs].map(([key, { status }]) => [key, status] as const));
      return { states, graph, steps };
    }
    assert.ok(!step.done, 'it is not done while something runs');
    const [{ node, frame }] = inFlight.splice(spread(`${steps}`, order) % inFlight.length, 1) as [{ node: WorkflowNode; frame: Frame }];
    const run = graph.runs.get(keyOf(frame.path, node.id)) as Run;
    const its = fate(node.id, frame.path);
    if (node.type === 'loop') openLoop(graph, frame, node, Array(its.items).fill(0));
    else if (its.fails && node.type === 'transform') {
      end(run, 'failed', { error: { code: 'network', message: 'x' } });
      const none: Step = { start: new Map(), changed: new Set(), done: false };
      fail(graph, node, run, frame, none, { node_id: node.id, code: 'network', message: 'x' });
    } else end(run, 'succeeded', { handles: taken(node, its) });
  }
}

/** Walks the nodes of a frame in their order. @returns whether something failed in it that nothing handled */
function interpreted({ definition: { nodes, edges }, fate }: Plan): { states: States; failed: boolean } {
  const states: States = new Map();
  const loopsOf = structureOf({ nodes, edges }).loops;
  const frame = (loop: string | null, path: string): boolean => {
    const handles = new Map<string, string[]>();
    /** The failures that each handler takes: only the first that lists a node. */
    const caught = new Set<string>();
    let failed = false;
    for (const node of nodes) {
      if ((loopsOf.get(node.id)?.at(-1) ?? null) !== loop) continue;
      const set = (status: NodeStatus, left: string[] = []) => {
        states.set(keyOf(path, node.id), status);
        handles.set(node.id, left);
      };
      const into = edges.filter(({ target }) => target === node.id);
      const live = into.some(({ source, sourceHandle }) =>
        source === loop ? sourceHandle === 'body' : handles.get(source)?.includes(sourceHandle as string),
      );
      if (node.type === 'trigger') set('succeeded', ['out']);
      else if (node.type === 'error_handler') {
        const needed = caught.has(node.id);
        set(needed ? 'succeeded' : 'skipped', needed ? ['out'] : []);
      } else if (!live) set('skipped');
      else {
        const its = fate(node.id, path);
        const fallback = edges.some(({ source, sourceHandle }) => source === node.id && sourceHandle === 'error');
        const own = nodes.find(({ type, data }) => type === 'error_handler' && ((data?.config?.catch ?? []) as string[]).includes(node.id));
        let bad = node.type === 'transform' && its.fails;
        if (node.type === 'loop') {
          const ends = Array.from({ length: its.items }, (_, i) => frame(node.id, iteration({ ...ROOT, path }, node.id, i).path));
          bad = configOf(node).onItemError === 'stop' && ends.includes(true);
        }
        if (!bad) set('succeeded', node.type === 'loop' ? ['done'] : taken(node, its));
        else {
          set('failed', fallback ? ['error'] : []);
          if (!fallback && own && node.type === 'transform') caught.add(own.id);
          else if (!fallback) failed = true;
        }
      }
    }
    return failed;
  };
  return { failed: frame(null, ''), states };
}

const runs = THOROUGH ? 20_000 : 1_500;
const seeds = fc.integer({ min: 1, max: 2 ** 31 });

test('generated definitions are publishable', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const problems = problemsOf(planOf(seed, 0).definition, { sandbox: false });
      assert.ok(isPublishable(problems), JSON.stringify(problems));
    }),
    { numRuns: 300 },
  );
});

test('without failures a run does exactly what the interpreter does, in whatever order its nodes end', () => {
  fc.assert(
    fc.property(seeds, seeds, (seed, order) => {
      const plan = planOf(seed, 0);
      const { states, graph } = simulated(plan, order);
      assert.deepEqual([...states].sort(), [...interpreted(plan).states].sort());
      assert.equal(outcomeOf(graph).status, 'completed');
    }),
    { numRuns: runs },
  );
});

test('with failures that are handled, too; one that is not ends the run, and nothing runs that the interpreter would not', () => {
  let [handled, unhandled] = [0, 0];
  fc.assert(
    fc.property(seeds, seeds, (seed, order) => {
      const plan = planOf(seed, 25);
      const { states, graph } = simulated(plan, order);
      const naive = interpreted(plan);
      const clean = ![...graph.failures.keys()].length && !naive.failed;
      if (clean) {
        assert.deepEqual([...states].sort(), [...naive.states].sort());
        if ([...states.values()].includes('failed')) handled++;
      } else {
        unhandled++;
        for (const [key, status] of states) {
          const expected = naive.states.get(key);
          if (status === 'succeeded' && graph.runs.get(key)?.node_id !== undefined)
            assert.ok(expected === 'succeeded' || expected === 'failed', `${key}: ${expected}`);
        }
      }
      assert.equal(outcomeOf(graph).status, naive.failed ? 'failed' : 'completed');
    }),
    { numRuns: runs },
  );
  assert.ok(handled > 50 && unhandled > 50, `${handled} handled, ${unhandled} unhandled`);
});
