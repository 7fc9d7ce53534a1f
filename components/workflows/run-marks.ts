import { isTerminal, type NodeStatus } from '#server/domain/workflows/definition.shared.ts';
import type { CanvasEdgeData } from './canvas-edge.tsx';
import { documentOf, outletOf } from './document.ts';
import type { StepMark } from './step-mark.tsx';
import { type RunDetail, type StepRun, tookText } from './workflow-labels.ts';

/** What each step gave last; of a loop's body, its last iteration. */
export const outputsOf = (runs: readonly StepRun[]): Map<string, unknown> =>
  new Map(
    runs.flatMap(({ node_id, status, output }) => (status === 'succeeded' && output !== undefined ? [[node_id, output] as const] : [])),
  );

/** The runs of a step, iteration by iteration. */
export const runsOf = (runs: readonly StepRun[], id: string): StepRun[] => runs.filter(({ node_id }) => node_id === id);

/** How each step fared; one that ran in a loop is as good as its worst iteration. */
export function marksOfRun(runs: readonly StepRun[]): Map<string, StepMark> {
  const marks = new Map<string, StepMark>();
  for (const id of new Set(runs.map(({ node_id }) => node_id))) {
    const own = runsOf(runs, id);
    const status = worstOf(own.map((one) => one.status));
    const took = own.reduce((sum, { duration_ms }) => sum + (duration_ms ?? 0), 0);
    const many = own.length > 1 ? `${own.filter((one) => one.status === 'succeeded').length} of ${own.length} items, ` : '';
    const tries = Math.max(...own.map(({ attempt }) => attempt));
    const detail =
      status === 'skipped' || status === 'pending' ? undefined : `${many}${tookText(took)}${tries > 1 ? `, attempt ${tries}` : ''}`;
    marks.set(id, { status, detail });
  }
  return marks;
}

const WORST: readonly NodeStatus[] = ['failed', 'running', 'pending', 'cancelled', 'succeeded', 'skipped'];
const worstOf = (all: readonly NodeStatus[]): NodeStatus => WORST.find((status) => all.includes(status)) ?? 'pending';

/** Which ways the run went; the others are dead once it has ended. */
export function edgeMarksOf({ node_executions: runs, definition, status }: Pick<RunDetail, 'node_executions' | 'definition' | 'status'>) {
  const taken = new Map<string, CanvasEdgeData['mark']>();
  for (const edge of documentOf(definition).edges) {
    const went = runsOf(runs, edge.source).some(({ handles }) => handles.includes(outletOf(edge)));
    if (went) taken.set(edge.id, 'taken');
    else if (isTerminal(status)) taken.set(edge.id, 'dead');
  }
  return taken;
}
