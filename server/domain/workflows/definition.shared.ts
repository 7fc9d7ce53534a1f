import { isExact } from '#server/kernel/lossless-number.ts';
import { grouped } from '#server/kernel/numbers.ts';

// The definition of a workflow (interface rule 62 §3): what is stored, and the hard checks that every write of one must pass (§2 rule 7).
// Whether it may also be live is another question: publishable.shared.ts.

export const NODE_TYPES = [
  'trigger',
  'http_request',
  'route_request',
  'email',
  'sms',
  'code',
  'transform',
  'condition',
  'router',
  'loop',
  'delay',
  'error_handler',
  'set_response',
] as const;
export type NodeType = (typeof NODE_TYPES)[number];

/** The trigger has this id in every definition. */
export const TRIGGER_NODE = 'trigger-node';

/** Unknown members are kept: editors store positions and notes there. */
export type WorkflowNode = {
  id: string;
  type: string;
  name?: string;
  position?: { x: number; y: number };
  data?: { config?: Record<string, unknown>; [key: string]: unknown };
  [key: string]: unknown;
};
export type WorkflowEdge = { id?: string; source: string; target: string; sourceHandle?: string | null; [key: string]: unknown };
export type Definition = { nodes: WorkflowNode[]; edges: WorkflowEdge[]; [key: string]: unknown };

export const TRIGGER_TYPES = ['manual', 'webhook', 'schedule', 'proxy_event'] as const;
/** What a definition's trigger may be set to. */
export type TriggerType = (typeof TRIGGER_TYPES)[number];

export const EXECUTION_TRIGGERS = ['manual', 'api', 'webhook', 'schedule', 'proxy_event', 'retry', 'test'] as const;
/** What started an execution. */
export type ExecutionTrigger = (typeof EXECUTION_TRIGGERS)[number];

/** As stored; `/v1` shows `waiting` (only timers are open) as `running`. */
export const EXECUTION_STATUSES = ['queued', 'running', 'waiting', 'cancelling', 'completed', 'failed', 'cancelled'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];
export const TERMINAL_STATUSES = ['completed', 'failed', 'cancelled'] as const satisfies readonly ExecutionStatus[];
export const isTerminal = (status: string): boolean => (TERMINAL_STATUSES as readonly string[]).includes(status);

export const NODE_STATUSES = ['pending', 'running', 'succeeded', 'failed', 'skipped', 'cancelled'] as const;
export type NodeStatus = (typeof NODE_STATUSES)[number];

export const EXECUTION_ERRORS = [
  'unresolved_reference',
  'http_status',
  'timeout',
  'network',
  'blocked_address',
  'secret_unresolved',
  'secret_forbidden',
  'invalid_config',
  'loop_limit',
  'state_too_large',
  'route_forbidden',
  'recursion_blocked',
  'operations_quota_exceeded',
  'execution_timeout',
  'cancelled',
  'worker_lost',
  'plan_feature',
] as const;
/** Why an execution, or one of its nodes, failed. */
export type ExecutionError = (typeof EXECUTION_ERRORS)[number];

/** What is wrong with a definition: `error` keeps it from being live. `node_id` is null for what concerns no single node. */
export type Problem = { node_id: string | null; severity: 'error' | 'warning'; message: string };

export const MOST_BYTES = 512 * 1024;
const MOST_NODES = 200;
const MOST_EDGES = 1_000;
/** Members and items in all, and how deep they lie: what every check of a definition walks over. */
const MOST_VALUES = 10_000;
const DEEPEST = 64;
const NODE_ID = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** The config of a node; empty when it has none. */
export const configOf = (node: WorkflowNode): Record<string, unknown> => {
  const config = node.data?.config;
  return isRecord(config) ? config : {};
};

/** Its name, or its id when it has none. */
export const titleOf = (node: WorkflowNode): string => (typeof node.name === 'string' && node.name !== '' ? node.name : node.id);

/** The two lists of a stored definition; a draft may have neither. */
export const graphOf = (stored: unknown): Definition => {
  const record = isRecord(stored) ? stored : {};
  return {
    ...record,
    nodes: Array.isArray(record.nodes) ? (record.nodes as WorkflowNode[]) : [],
    edges: Array.isArray(record.edges) ? (record.edges as WorkflowEdge[]) : [],
  };
};

/** The trigger node, if there is one. */
export const triggerOf = (stored: unknown): WorkflowNode | undefined => graphOf(stored).nodes.find(({ id }) => id === TRIGGER_NODE);

/** What the trigger is set to; null without a trigger, or with one of another type. */
export function triggerTypeOf(stored: unknown): TriggerType | null {
  const node = triggerOf(stored);
  const type = node && configOf(node).triggerType;
  return TRIGGER_TYPES.find((one) => one === type) ?? null;
}

/** Replaces the config of the trigger node (rule 5); a definition without one stays as it is. */
export function withTriggerConfig(stored: unknown, config: Record<string, unknown>): Definition {
  const graph = graphOf(stored);
  const nodes = graph.nodes.map((node) => (node.id === TRIGGER_NODE ? { ...node, data: { ...node.data, config } } : node));
  return { ...graph, nodes };
}

/**
 * The hard checks of §2 rule 7. @returns what is wrong, to follow the word "definition", with the place below it such as `nodes[2].id`; null when it may
 * be stored
 */
export function hardProblem(definition: unknown): { path: string; message: string } | null {
  if (!isRecord(definition)) return { path: '', message: 'must be an object' };
  if (byteLength(JSON.stringify(definition)) > MOST_BYTES) return { path: '', message: 'must be at most 512 KiB' };
  const shape = shapeProblem(definition);
  if (shape) return { path: '', message: shape };
  const { nodes = [], edges = [] } = definition;
  if (!Array.isArray(nodes)) return { path: 'nodes', message: 'must be a list' };
  if (!Array.isArray(edges)) return { path: 'edges', message: 'must be a list' };
  if (nodes.length > MOST_NODES) return { path: 'nodes', message: `must have at most ${MOST_NODES} nodes` };
  if (edges.length > MOST_EDGES) return { path: 'edges', message: `must have at most ${grouped(MOST_EDGES)} edges` };
  const ids = new Set<string>();
  for (const [i, node] of nodes.entries()) {
    const problem = nodeProblem(node, ids);
    if (problem) return { path: `nodes[${i}]${problem.path}`, message: problem.message };
  }
  for (const [i, edge] of edges.entries())
    if (!isRecord(edge) || typeof edge.source !== 'string' || typeof edge.target !== 'string')
      return { path: `edges[${i}]`, message: 'must be an object with source and target' };
  return null;
}

function shapeProblem(definition: object): string | null {
  let count = 0;
  const open: { value: object; depth: number }[] = [{ value: definition, depth: 1 }];
  for (let one = open.pop(); one; one = open.pop()) {
    const inside: unknown[] = Array.isArray(one.value) ? one.value : Object.values(one.value);
    count += inside.length;
    if (count > MOST_VALUES) return `must have at most ${grouped(MOST_VALUES)} members and items in all`;
    if (one.depth > DEEPEST) return `must be at most ${DEEPEST} levels deep`;
    for (const value of inside)
      if (typeof value === 'object' && value !== null && !isExact(value)) open.push({ value, depth: one.depth + 1 });
  }
  return null;
}

function nodeProblem(node: unknown, ids: Set<string>): { path: string; message: string } | null {
  if (!isRecord(node)) return { path: '', message: 'must be an object' };
  const { id, type } = node;
  if (typeof id !== 'string' || id === '') return { path: '.id', message: 'is required' };
  if (!NODE_ID.test(id) || id === 'trigger')
    return { path: '.id', message: 'must begin with a letter or _ and have at most 64 letters, digits, _ and -; trigger is reserved' };
  if (typeof type !== 'string' || type === '') return { path: '.type', message: 'is required' };
  if (ids.has(id)) return { path: '.id', message: `is used twice: ${id}` };
  ids.add(id);
  return null;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExact(value);

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** How long a run may take that sets no limit of its own; delays don't count. */
export const DEFAULT_TIMEOUT_SECONDS = 300;
