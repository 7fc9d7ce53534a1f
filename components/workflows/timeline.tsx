'use client';

import { cn } from '#components/ui/cn.ts';
import { STATUS, StatusIcon } from './step-mark.tsx';
import { type RunDetail, type StepRun, tookText } from './workflow-labels.ts';

const BARS: Record<StepRun['status'], string> = {
  pending: 'bg-line-strong',
  running: 'bg-accent',
  succeeded: 'bg-good',
  failed: 'bg-bad',
  skipped: 'bg-line-strong',
  cancelled: 'bg-note',
};
const MOST = 300;

/** When each step ran, as bars from the beginning of the run to its end; the same in words for each. */
export function Timeline({ run, chosen, onOpen }: { run: RunDetail; chosen: string | null; onOpen: (id: string) => void }) {
  const ran = run.node_executions.filter(({ started_at }) => started_at !== null).sort((a, b) => at(a.started_at) - at(b.started_at));
  if (ran.length === 0) return <p className="text-ink-3">No step has begun yet.</p>;
  const begin = Math.min(at(run.started_at ?? run.created_at), ...ran.map((one) => at(one.started_at)));
  const end = Math.max(begin + 1, at(run.completed_at), ...ran.map((one) => at(one.completed_at ?? one.started_at)));
  const share = (from: number) => ((from - begin) / (end - begin)) * 100;
  return (
    <ol className="flex flex-col gap-0.5">
      {ran.slice(0, MOST).map((one) => {
        const from = at(one.started_at);
        const to = Math.max(from, at(one.completed_at ?? one.started_at));
        return (
          <li key={one.id}>
            <button
              type="button"
              aria-pressed={chosen === one.node_id}
              onClick={() => onOpen(one.node_id)}
              className={cn(
                'grid w-full grid-cols-[minmax(0,10rem)_minmax(0,1fr)_4.5rem] items-center gap-3 rounded-sm px-1.5 py-1 text-left hoverable:bg-subtle',
                chosen === one.node_id && 'bg-accent-soft',
              )}
            >
              <span className="flex min-w-0 items-center gap-1.5">
                <StatusIcon status={one.status} />
                <span className="truncate text-xs">
                  {one.node_name || one.node_id}
                  {one.path && <span className="text-ink-3"> {one.path}</span>}
                </span>
              </span>
              <span aria-hidden className="relative h-2 rounded-full bg-subtle">
                <span
                  className={cn('keep-fill absolute inset-y-0 min-w-1 rounded-full', BARS[one.status])}
                  style={{ left: `${Math.min(99, share(from))}%`, width: `${Math.max(0.5, share(to) - share(from))}%` }}
                />
              </span>
              <span className="figures text-right text-ink-2 text-xs">
                {tookText(one.duration_ms)}
                <span className="sr-only">
                  , {STATUS[one.status].label}, {tookText(from - begin)} after the start
                </span>
              </span>
            </button>
          </li>
        );
      })}
      {ran.length > MOST && (
        <li className="px-1.5 text-ink-3 text-xs">{ran.length - MOST} more are not drawn. Choose a step to see its iterations.</li>
      )}
    </ol>
  );
}

const at = (time: string | null): number => (time === null ? 0 : Date.parse(time));
