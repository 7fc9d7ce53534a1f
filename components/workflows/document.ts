import { isRecord } from '#server/domain/workflows/definition.shared.ts';
import { DEFAULT_CONFIG, hasInlet, ID_STEM, outletsOf, type StepKind } from './step-kinds.ts';

/** A definition as the editor holds it: what it doesn't know of a step or an edge is kept as it came. */
export type Step = {
  id: string;
  type: string;
  name?: string | undefined;
  position?: { x: number; y: number } | undefined;
  data?: { config?: Record<string, unknown>; [key: string]: unknown } | undefined;
  [key: string]: unknown;
};
export type Edge = { id: string; source: string; target: string; sourceHandle?: string | null | undefined; [key: string]: unknown };
export type Document = { nodes: readonly Step[]; edges: readonly Edge[]; [key: string]: unknown };

export const TRIGGER_ID = 'trigger-node';
/** The room of a step on the canvas, in pixels, and the gap below it. */
export const STEP_SIZE = { width: 232, height: 64, gap: 72 } as const;

export const configOf = (step: Step): Record<string, unknown> => step.data?.config ?? {};
export const outletOf = (edge: Edge): string => edge.sourceHandle ?? 'out';
export const stepOf = (doc: Document, id: string): Step | undefined => doc.nodes.find((step) => step.id === id);

/** What somebody stored, as a document: an empty draft gets the trigger that every workflow begins with. */
export function documentOf(definition: unknown): Document {
  const { nodes, edges, ...others } = (definition ?? {}) as Partial<Document>;
  const kept = Array.isArray(nodes) ? nodes : [];
  const trigger: Step = { id: TRIGGER_ID, type: 'trigger', position: { x: 0, y: 0 }, data: { config: { ...DEFAULT_CONFIG.trigger } } };
  return {
    ...others,
    nodes: placed(kept.some((step) => step.id === TRIGGER_ID) ? kept : [trigger, ...kept]),
    edges: Array.isArray(edges) ? named(edges) : [],
  };
}

/** A definition that was written by hand may have no positions: its steps stand below each other until somebody lays them out. */
const placed = (nodes: readonly Step[]): Step[] =>
  nodes.map((step, index) => (step.position ? step : { ...step, position: { x: 0, y: index * (STEP_SIZE.height + STEP_SIZE.gap) } }));

/** Edges need no id where they are stored; here each has one. */
const named = (edges: readonly (Omit<Edge, 'id'> & { id?: string })[]): Edge[] =>
  edges.map((edge, index) => ({ ...edge, id: edge.id || `edge_${index + 1}` }) as Edge);

export type Place = { after: string; outlet: string } | { within: string } | { at: { x: number; y: number } };

/** Adds a step after an outlet, on an edge, or somewhere by itself. */
export function withStep(doc: Document, kind: StepKind, place: Place): { doc: Document; id: string } {
  const id = freeId(doc, ID_STEM[kind]);
  const step: Step = { id, type: kind, data: { config: structuredClone(DEFAULT_CONFIG[kind]) } };
  if ('at' in place) return { id, doc: { ...doc, nodes: [...doc.nodes, { ...step, position: place.at }] } };
  if ('after' in place) {
    const position = roomBelow(doc, place.after, place.outlet);
    if (!hasInlet(kind)) return withStep(doc, kind, { at: position });
    const edge = edgeOf(doc, place.after, place.outlet, id);
    return { id, doc: { ...doc, nodes: [...doc.nodes, { ...step, position }], edges: [...doc.edges, edge] } };
  }
  const cut = doc.edges.find((edge) => edge.id === place.within);
  const target = cut && stepOf(doc, cut.target);
  if (!cut || !target || !hasInlet(kind)) return withStep(doc, kind, { at: { x: 0, y: 0 } });
  const position = target.position ?? { x: 0, y: 0 };
  // All that comes after makes room, so that nothing lies under the new step.
  const below = new Set(downstreamOf(doc, cut.target));
  const shift = STEP_SIZE.height + STEP_SIZE.gap;
  const nodes = doc.nodes.map((one) =>
    below.has(one.id) && one.position ? { ...one, position: { x: one.position.x, y: one.position.y + shift } } : one,
  );
  const first = outletsOf(step)[0]?.id;
  const before = { ...cut, target: id };
  const edges = doc.edges.map((edge) => (edge.id === cut.id ? before : edge));
  const doc2: Document = { ...doc, nodes: [...nodes, { ...step, position }], edges };
  return { id, doc: first ? { ...doc2, edges: [...edges, edgeOf(doc2, id, first, cut.target)] } : doc2 };
}

/** Why two steps can't be joined; undefined when they can. */
export function cannotConnect(doc: Document, source: string, outlet: string, target: string): string | undefined {
  const [from, to] = [stepOf(doc, source), stepOf(doc, target)];
  if (!from || !to) return 'There is no such step.';
  if (to.type === 'trigger') return 'Nothing can lead to the trigger.';
  if (to.type === 'error_handler') return 'An error handler is started by an error, not by an edge.';
  if (source === target) return 'A step can’t lead to itself.';
  if (!outletsOf(from).some(({ id }) => id === outlet)) return 'The step has no such output.';
  if (doc.edges.some((edge) => edge.source === source && outletOf(edge) === outlet && edge.target === target))
    return 'They are joined already.';
  if (downstreamOf(doc, target).includes(source)) return 'Steps can’t lead back to an earlier one. Use a loop.';
  return undefined;
}

/** Joins two steps; the same document when they can't be. */
export const withEdge = (doc: Document, source: string, outlet: string, target: string): Document =>
  cannotConnect(doc, source, outlet, target) ? doc : { ...doc, edges: [...doc.edges, edgeOf(doc, source, outlet, target)] };

/** Takes steps and edges away; never the trigger. What led to a removed step leads to what came after it, where that is one step. */
export function without(doc: Document, steps: readonly string[], edges: readonly string[] = []): Document {
  let left: Document = { ...doc, edges: doc.edges.filter(({ id }) => !edges.includes(id)) };
  for (const id of steps) {
    if (id === TRIGGER_ID || !stepOf(left, id)) continue;
    const into = left.edges.filter(({ target }) => target === id);
    const after = left.edges.filter((edge) => edge.source === id && ['out', 'done', 'true'].includes(outletOf(edge)));
    const rest: Document = {
      ...left,
      nodes: left.nodes.filter((step) => step.id !== id),
      edges: left.edges.filter(({ source, target }) => source !== id && target !== id),
    };
    const [next, ...others] = after;
    left = next && others.length === 0 ? into.reduce((one, edge) => withEdge(one, edge.source, outletOf(edge), next.target), rest) : rest;
  }
  return left;
}

/** Changes a step's configuration; a key set to undefined is taken out. */
export function withConfig(doc: Document, id: string, change: Record<string, unknown>): Document {
  return changed(doc, id, (step) => {
    const config = Object.fromEntries(Object.entries({ ...configOf(step), ...change }).filter(([, value]) => value !== undefined));
    return { ...step, data: { ...step.data, config } };
  });
}

export const withName = (doc: Document, id: string, name: string): Document =>
  changed(doc, id, ({ name: _, ...step }) =>
    name.trim() === '' ? { ...step, id: step.id, type: step.type } : { ...step, id: step.id, type: step.type, name },
  );

export const withPositions = (doc: Document, positions: ReadonlyMap<string, { x: number; y: number }>): Document => ({
  ...doc,
  nodes: doc.nodes.map((step) => ({ ...step, position: positions.get(step.id) ?? step.position })),
});

/** Keeps an example of what a step gives, for later steps to be tested with; undefined lets go of it. */
export const withSample = (doc: Document, id: string, sample: unknown): Document =>
  changed(doc, id, (step) => {
    const { sample: _, ...data } = step.data ?? {};
    return { ...step, data: sample === undefined ? data : { ...data, sample } };
  });
export const sampleOf = (step: Step): unknown => step.data?.sample;

/** Takes edges away that leave by an outlet that is gone, such as that of a removed route. */
export const withoutStrayEdges = (doc: Document): Document => ({
  ...doc,
  edges: doc.edges.filter((edge) => {
    const source = stepOf(doc, edge.source);
    return source && outletsOf(source).some(({ id }) => id === outletOf(edge));
  }),
});

/** Some steps and the edges between them, as the clipboard has them. */
export type Fragment = { nodes: readonly Step[]; edges: readonly Edge[] };

export function fragmentOf(doc: Document, ids: readonly string[]): Fragment {
  const nodes = doc.nodes.filter((step) => ids.includes(step.id) && step.type !== 'trigger');
  const within = new Set(nodes.map(({ id }) => id));
  return { nodes, edges: doc.edges.filter(({ source, target }) => within.has(source) && within.has(target)) };
}

/** Adds copies of steps under names of their own; references among them lead to the copies. */
export function withFragment(doc: Document, fragment: Fragment, shift = { x: 48, y: 48 }): { doc: Document; ids: string[] } {
  const names = new Map<string, string>();
  let grown = doc;
  for (const step of fragment.nodes.filter(({ type }) => type !== 'trigger')) {
    const id = freeId(grown, ID_STEM[step.type as StepKind] ?? 'step');
    names.set(step.id, id);
    const { x, y } = step.position ?? { x: 0, y: 0 };
    grown = { ...grown, nodes: [...grown.nodes, { ...step, id, position: { x: x + shift.x, y: y + shift.y } }] };
  }
  const ids = [...names.values()];
  const nodes = grown.nodes.map((step) => (ids.includes(step.id) ? { ...step, data: referring(step.data, names) as Step['data'] } : step));
  let joined: Document = { ...grown, nodes };
  for (const edge of fragment.edges) {
    const [source, target] = [names.get(edge.source), names.get(edge.target)];
    if (source && target) joined = withEdge(joined, source, outletOf(edge), target);
  }
  return { doc: joined, ids };
}

/** The same value with `{{old.` written as `{{new.`, wherever it stands. */
function referring(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string')
    return value.replace(/\{\{\s*([A-Za-z_][A-Za-z0-9_-]*)/g, (all, id: string) =>
      names.has(id) ? all.replace(id, names.get(id) ?? id) : all,
    );
  if (Array.isArray(value)) return value.map((one) => referring(one, names));
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, referring(one, names)]));
  return value;
}

/** All that can run after a step, itself first. */
export function downstreamOf(doc: Document, id: string): string[] {
  const seen = [id];
  for (const one of seen) for (const { source, target } of doc.edges) if (source === one && !seen.includes(target)) seen.push(target);
  return seen;
}

/** All that has run before a step can: what its expressions may refer to. Nearest first, without itself. */
export function upstreamOf(doc: Document, id: string): string[] {
  const seen = [id];
  for (const one of seen) for (const { source, target } of doc.edges) if (target === one && !seen.includes(source)) seen.push(source);
  return seen.slice(1);
}

const changed = (doc: Document, id: string, change: (step: Step) => Step): Document => ({
  ...doc,
  nodes: doc.nodes.map((step) => (step.id === id ? change(step) : step)),
});

function edgeOf(doc: Document, source: string, outlet: string, target: string): Edge {
  const taken = new Set(doc.edges.map(({ id }) => id));
  let number = doc.edges.length + 1;
  while (taken.has(`e${number}`)) number += 1;
  return { id: `e${number}`, source, target, sourceHandle: outlet };
}

function freeId(doc: Document, stem: string): string {
  const taken = new Set(doc.nodes.map(({ id }) => id));
  let number = 1;
  while (taken.has(`${stem}_${number}`)) number += 1;
  return `${stem}_${number}`;
}

/** Below the step, under its outlet, and beside whatever stands there. */
function roomBelow(doc: Document, source: string, outlet: string): { x: number; y: number } {
  const from = stepOf(doc, source);
  const { x, y } = from?.position ?? { x: 0, y: 0 };
  const outlets = from ? outletsOf(from) : [];
  const index = Math.max(
    0,
    outlets.findIndex(({ id }) => id === outlet),
  );
  const spread = STEP_SIZE.width + 40;
  const spot = { x: Math.round(x + (index - (outlets.length - 1) / 2) * spread), y: y + STEP_SIZE.height + STEP_SIZE.gap };
  const blocked = () =>
    doc.nodes.some(
      ({ position }) => position && Math.abs(position.x - spot.x) < STEP_SIZE.width && Math.abs(position.y - spot.y) < STEP_SIZE.height,
    );
  while (blocked()) spot.x += spread;
  return spot;
}
