import {
  configOf,
  type Definition,
  isRecord,
  type Problem,
  TRIGGER_NODE,
  type WorkflowEdge,
  type WorkflowNode,
} from './definition.shared.ts';

/** A definition as a graph: what engines, editors and the publishable check all ask of it. */
export type Structure = {
  nodes: ReadonlyMap<string, WorkflowNode>;
  /** Edges whose two ends exist, by their end and by their beginning. */
  into: ReadonlyMap<string, Link[]>;
  from: ReadonlyMap<string, Link[]>;
  /** The loops in whose bodies a node lies, the outermost first. */
  loops: ReadonlyMap<string, string[]>;
};
export type Link = { source: string; target: string; handle: string };

/** The handles of each type but router, whose handles are the ids of its routes (interface rule 62 §3.1). */
const HANDLES: Record<string, readonly string[]> = {
  trigger: ['out'],
  http_request: ['out', 'error'],
  route_request: ['out', 'error'],
  email: ['out', 'error'],
  sms: ['out', 'error'],
  code: ['out'],
  transform: ['out', 'error'],
  condition: ['true', 'false'],
  loop: ['body', 'done', 'error'],
  delay: ['out'],
  error_handler: ['out'],
  set_response: ['out'],
};

export function handlesOf(node: WorkflowNode): readonly string[] {
  if (node.type !== 'router') return HANDLES[node.type] ?? ['out'];
  return [...routesOf(node).map(({ id }) => id), 'default'];
}

/** Of a router, those that can be read. */
export function routesOf(node: WorkflowNode): { id: string; [key: string]: unknown }[] {
  const { routes } = configOf(node);
  return Array.isArray(routes) ? routes.filter((route): route is { id: string } => isRecord(route) && typeof route.id === 'string') : [];
}

/** An edge that names no handle leaves by the first one. */
const linkOf = ({ source, target, sourceHandle }: WorkflowEdge, first: string): Link => ({
  ...{ source, target },
  handle: typeof sourceHandle === 'string' && sourceHandle !== '' ? sourceHandle : first,
});

export function structureOf({ nodes: list, edges }: Definition): Structure {
  const nodes = new Map(list.map((node) => [node.id, node]));
  const into = new Map<string, Link[]>(list.map(({ id }) => [id, []]));
  const from = new Map<string, Link[]>(list.map(({ id }) => [id, []]));
  const first = new Map(list.map((node) => [node.id, handlesOf(node)[0] ?? 'out']));
  for (const edge of edges) {
    if (!nodes.has(edge.source) || !nodes.has(edge.target)) continue;
    const link = linkOf(edge, first.get(edge.source) ?? 'out');
    into.get(edge.target)?.push(link);
    from.get(edge.source)?.push(link);
  }
  return { nodes, into, from, loops: loopsOf(nodes, from) };
}

/** The bodies of loops; handlers of nodes inside of one belong to it too, with everything after them. */
function loopsOf(nodes: ReadonlyMap<string, WorkflowNode>, from: ReadonlyMap<string, Link[]>): Map<string, string[]> {
  const next = new Map<string, { target: string }[]>([...from].map(([id, links]) => [id, [...links]]));
  for (const node of nodes.values())
    if (node.type === 'error_handler') for (const id of new Set(caughtBy(node))) next.get(id)?.push({ target: node.id });
  const bodies = [...nodes.values()]
    .filter(({ type }) => type === 'loop')
    .map(({ id }) => {
      const begin = (from.get(id) ?? []).filter(({ handle }) => handle === 'body').map(({ target }) => target);
      return { id, body: reached(begin, next) };
    })
    // The larger body is the outer one.
    .sort((a, b) => b.body.size - a.body.size);
  return new Map([...nodes.keys()].map((id) => [id, bodies.filter(({ body }) => body.has(id)).map((loop) => loop.id)]));
}

/** The nodes whose failures a handler takes; empty for one of the whole workflow. */
export function caughtBy(node: WorkflowNode): string[] {
  const { scope, catch: caught } = configOf(node);
  return scope === 'node' && Array.isArray(caught) ? caught.filter((id): id is string => typeof id === 'string') : [];
}

export function reached(begin: readonly string[], from: ReadonlyMap<string, readonly Pick<Link, 'target'>[]>): Set<string> {
  const seen = new Set<string>();
  for (const open = [...begin]; open.length > 0; ) {
    const id = open.pop() as string;
    if (seen.has(id)) continue;
    seen.add(id);
    for (const { target } of from.get(id) ?? []) open.push(target);
  }
  return seen;
}

const MOST_LOOPS = 3;

/** What is wrong with the edges: ends, handles, circles, and paths that leave or enter the body of a loop in between. */
export function graphProblems({ edges }: Definition, { nodes, into, from, loops }: Structure): Problem[] {
  const problems: Problem[] = [];
  const error = (node_id: string | null, message: string) => problems.push({ node_id, severity: 'error', message });
  for (const { source, target } of edges) {
    if (!nodes.has(source)) error(null, `an edge begins at "${source}", which doesn't exist`);
    if (!nodes.has(target)) error(null, `an edge ends at "${target}", which doesn't exist`);
  }
  for (const [id, links] of from) {
    const node = nodes.get(id) as WorkflowNode;
    const handles = handlesOf(node);
    for (const { handle, target } of links) {
      if (!handles.includes(handle)) error(id, `has no handle "${handle}"`);
      if (target === TRIGGER_NODE) error(id, 'leads back to the trigger');
      else if (nodes.get(target)?.type === 'error_handler')
        error(id, `leads to the error handler "${target}", which begins a path of its own`);
    }
  }
  const circle = onCircle(nodes.keys(), from);
  if (circle !== null) error(circle, 'is on a circle: a workflow can only lead forwards');
  else
    for (const links of into.values())
      for (const { source, target, handle } of links) {
        const inside = [...(loops.get(source) ?? []), ...(nodes.get(source)?.type === 'loop' && handle === 'body' ? [source] : [])];
        if (inside.join() !== (loops.get(target) ?? []).join()) error(target, `is reached from inside and outside of the body of a loop`);
      }
  for (const [id, around] of loops)
    if (nodes.get(id)?.type === 'loop' && around.length >= MOST_LOOPS) error(id, `loops can be nested ${MOST_LOOPS} deep`);
  return problems;
}

function onCircle(ids: Iterable<string>, from: ReadonlyMap<string, Link[]>): string | null {
  const state = new Map<string, 'open' | 'done'>();
  for (const begin of ids) {
    if (state.has(begin)) continue;
    const stack: { id: string; next: number }[] = [{ id: begin, next: 0 }];
    state.set(begin, 'open');
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const target = from.get(top.id)?.[top.next++]?.target;
      if (target === undefined) {
        state.set(top.id, 'done');
        stack.pop();
      } else if (state.get(target) === 'open') return target;
      else if (!state.has(target)) {
        state.set(target, 'open');
        stack.push({ id: target, next: 0 });
      }
    }
  }
  return null;
}
