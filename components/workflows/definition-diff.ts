import { isRecord } from '#server/domain/workflows/definition.shared.ts';
import { configOf, type Document, outletOf, type Step } from './document.ts';

export type StepDiff = {
  id: string;
  name: string;
  change: 'added' | 'removed' | 'changed';
  fields: { path: string; before: unknown; after: unknown }[];
};
export type DefinitionDiff = { steps: StepDiff[]; edges: { id: string; change: 'added' | 'removed'; text: string }[] };

/** What became of steps and edges between two versions. Where a step stands on the canvas is no change. */
export function definitionDiff(before: Document, after: Document): DefinitionDiff {
  const [old, now] = [byId(before), byId(after)];
  const steps: StepDiff[] = [];
  for (const [id, step] of now) {
    const earlier = old.get(id);
    if (!earlier) steps.push({ id, name: step.name ?? id, change: 'added', fields: [] });
    else {
      const fields = fieldsOf(shapeOf(earlier), shapeOf(step), '');
      if (fields.length > 0) steps.push({ id, name: step.name ?? id, change: 'changed', fields });
    }
  }
  for (const [id, step] of old) if (!now.has(id)) steps.push({ id, name: step.name ?? id, change: 'removed', fields: [] });
  const [had, has] = [ways(before), ways(after)];
  return {
    steps,
    edges: [
      ...[...has].flatMap(([text, id]) => (had.has(text) ? [] : [{ id, change: 'added' as const, text }])),
      ...[...had].flatMap(([text, id]) => (has.has(text) ? [] : [{ id, change: 'removed' as const, text }])),
    ],
  };
}

export const isEmpty = ({ steps, edges }: DefinitionDiff): boolean => steps.length === 0 && edges.length === 0;

/** Both versions in one document, for drawing: what was removed stands where it stood. */
export function bothOf(before: Document, after: Document): Document {
  const { steps, edges } = definitionDiff(before, after);
  const gone = new Set(steps.flatMap(({ id, change }) => (change === 'removed' ? [id] : [])));
  const lost = new Set(edges.flatMap(({ id, change }) => (change === 'removed' ? [id] : [])));
  return {
    nodes: [...after.nodes, ...before.nodes.filter(({ id }) => gone.has(id))],
    edges: [...after.edges, ...before.edges.filter(({ id }) => lost.has(id)).map((edge) => ({ ...edge, id: `before-${edge.id}` }))],
  };
}

const byId = ({ nodes }: Document) => new Map(nodes.map((step) => [step.id, step]));
const ways = ({ edges }: Document) => new Map(edges.map((edge) => [`${edge.source} (${outletOf(edge)}) → ${edge.target}`, edge.id]));
const shapeOf = (step: Step) => ({ type: step.type, name: step.name ?? '', ...configOf(step) });

function fieldsOf(before: unknown, after: unknown, path: string): StepDiff['fields'] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (!isRecord(before) || !isRecord(after)) return [{ path, before, after }];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
    fieldsOf(before[key], after[key], path === '' ? key : `${path}.${key}`),
  );
}
