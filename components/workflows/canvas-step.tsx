'use client';

import { Handle, type Node, type NodeProps, Position, useUpdateNodeInternals } from '@xyflow/react';
import { CircleAlert, Pin, Plus, TriangleAlert } from 'lucide-react';
import { memo, useEffect } from 'react';
import { cn } from '#components/ui/cn.ts';
import { type Place, type Step, sampleOf } from './document.ts';
import { hasInlet, kindOf, type Outlet, outletsOf } from './step-kinds.ts';
import { STATUS, StatusIcon, type StepMark } from './step-mark.tsx';
import { summaryOf } from './step-summary.ts';

export type FlowStep = Node<
  { step: Step; mark: StepMark | undefined; open: readonly string[]; onAdd: ((place: Place) => void) | undefined },
  'step'
>;

/** One step on the canvas. */
export const CanvasStep = memo(function CanvasStep({ data: { step, mark, open, onAdd }, selected }: NodeProps<FlowStep>) {
  const { label, icon: Icon } = kindOf(step.type);
  const outlets = outletsOf(step);
  const measure = useUpdateNodeInternals();
  const named = outlets.map(({ id }) => id).join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the routes of a router come and go while its box keeps its size, so nobody else would look again.
  useEffect(() => measure(step.id), [measure, step.id, named]);
  const worst = mark?.problems?.some(({ severity }) => severity === 'error') ? 'error' : mark?.problems?.length ? 'warning' : undefined;
  return (
    <div
      className={cn(
        'group/step flex h-full w-full items-center gap-2.5 rounded-lg border bg-surface px-3 shadow-xs transition-colors',
        'border-line-strong',
        mark?.status && STATUS[mark.status].box,
        mark?.diff && DIFFS[mark.diff],
        worst === 'error' && 'border-bad-line',
        selected && 'border-accent outline-2 outline-accent-line',
      )}
    >
      {hasInlet(step.type) && (
        <Handle type="target" position={Position.Top} className="size-3! rounded-full! border-2! border-line-control! bg-surface!" />
      )}
      <span
        className={cn(
          'inline-flex size-8 shrink-0 items-center justify-center rounded-md border border-line-strong bg-subtle text-ink-2 [&_svg]:size-4',
          step.type === 'trigger' && 'border-accent-line bg-accent-soft text-accent-ink',
          step.type === 'error_handler' && 'border-bad-line bg-bad-soft text-bad-ink',
        )}
      >
        <Icon aria-hidden />
      </span>
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium text-sm">{step.name || label}</span>
        <span className="block truncate text-ink-3 text-xs">{mark?.detail ?? summaryOf(step)}</span>
      </span>
      <span className="flex shrink-0 items-center gap-1 [&_svg]:size-4">
        {sampleOf(step) !== undefined && !mark?.status && <Pin aria-label="Has a sample" className="text-note-ink" />}
        {mark?.status && <StatusIcon status={mark.status} />}
        {mark?.diff && <span className="font-medium text-2xs text-ink-2">{mark.diff}</span>}
        {worst === 'error' && <CircleAlert aria-label={mark?.problems?.[0]?.message} className="text-bad-ink" />}
        {worst === 'warning' && <TriangleAlert aria-label={mark?.problems?.[0]?.message} className="text-warn-ink" />}
      </span>
      {outlets.map((outlet, index) => (
        <Way
          key={outlet.id}
          outlet={outlet}
          left={leftOf(outlets, index)}
          free={open.includes(outlet.id)}
          quiet={outlet.id === 'error' && open.includes('error')}
          onAdd={onAdd && (() => onAdd({ after: step.id, outlet: outlet.id }))}
          from={step.name ?? label}
        />
      ))}
    </div>
  );
});

type WayProps = { outlet: Outlet; left: number; free: boolean; quiet: boolean; onAdd: (() => void) | undefined; from: string };

/** Where edges leave: drawn from by the pointer, or pressed to add what comes next. */
function Way({ outlet, left, free, quiet, onAdd, from }: WayProps) {
  const hidden = quiet && 'opacity-0 group-focus-within/step:opacity-100 group-hover/step:opacity-100';
  return (
    <>
      <Handle
        type="source"
        id={outlet.id}
        position={Position.Bottom}
        style={{ left: `${left}%` }}
        className={cn(
          'size-3! rounded-full! border-2! border-line-control! bg-surface!',
          outlet.tone === 'bad' && 'border-bad-line!',
          hidden,
        )}
      />
      <span
        style={{ left: `${left}%` }}
        className={cn(
          '-translate-x-1/2 pointer-events-none absolute top-full mt-1.5 flex flex-col items-center gap-0.5 transition-opacity',
          hidden,
        )}
      >
        {outlet.id !== 'out' && <span className="max-w-24 truncate rounded-xs bg-canvas px-1 text-2xs text-ink-2">{outlet.label}</span>}
        {free && onAdd && (
          <button
            type="button"
            aria-label={`Add a step after ${from}${outlet.id === 'out' ? '' : `, ${outlet.label}`}`}
            onClick={(event) => {
              event.stopPropagation();
              onAdd();
            }}
            className="nodrag nopan pointer-events-auto inline-flex size-6 items-center justify-center rounded-full border border-line-control bg-surface text-ink-2 hover:border-accent hover:text-accent-ink"
          >
            <Plus aria-hidden className="size-3.5" />
          </button>
        )}
      </span>
    </>
  );
}

/** "Next" goes straight down; what happens seldom stands to its right. */
function leftOf(outlets: readonly Outlet[], index: number): number {
  if (outlets.length === 2 && outlets[1]?.id === 'error') return index === 0 ? 50 : 88;
  return ((index + 0.5) / outlets.length) * 100;
}

const DIFFS = {
  added: 'border-good-line bg-good-soft',
  removed: 'border-bad-line border-dashed bg-bad-soft',
  changed: 'border-warn-line bg-warn-soft',
};
