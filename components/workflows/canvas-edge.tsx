'use client';

import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, getSmoothStepPath } from '@xyflow/react';
import { Plus } from 'lucide-react';
import type { Place } from './document.ts';

export type CanvasEdgeData = {
  /** Whether a run went this way, or what became of it between two versions. */
  mark?: 'taken' | 'dead' | 'added' | 'removed' | undefined;
  onAdd?: ((place: Place) => void) | undefined;
};

const INKS = { taken: 'var(--good)', dead: 'var(--line-strong)', added: 'var(--good)', removed: 'var(--bad)' } as const;

/** The way from one step to the next, with room for another in its middle. */
export function CanvasEdge(props: EdgeProps<Edge<CanvasEdgeData>>) {
  const { id, data, selected, markerEnd, source, target } = props;
  const [path, x, y] = getSmoothStepPath({ ...props, borderRadius: 10 });
  const ink = selected ? 'var(--accent)' : data?.mark ? INKS[data.mark] : 'var(--line-control)';
  const dashed = data?.mark === 'dead' || data?.mark === 'removed';
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        {...(markerEnd ? { markerEnd } : {})}
        interactionWidth={18}
        style={{ stroke: ink, strokeWidth: selected || data?.mark === 'taken' ? 2.5 : 1.75, ...(dashed ? { strokeDasharray: '4 4' } : {}) }}
      />
      {data?.onAdd && (
        <EdgeLabelRenderer>
          <button
            type="button"
            aria-label={`Add a step between ${source} and ${target}`}
            onClick={() => data.onAdd?.({ within: id })}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
            className="nodrag nopan pointer-events-auto absolute inline-flex size-6 items-center justify-center rounded-full border border-line-strong bg-surface text-ink-3 opacity-0 transition-opacity hover:border-accent hover:text-accent-ink hover:opacity-100 focus-visible:opacity-100"
          >
            <Plus aria-hidden className="size-3.5" />
          </button>
        </EdgeLabelRenderer>
      )}
    </>
  );
}
