import { cn } from './cn.ts';
import { exactMillis } from './numbers.ts';

export type Phase = {
  name: string;
  ms: number;
  /** Ours is what the gateway spent; upstream is the wait for the other side. */
  where: 'inside' | 'upstream';
};

export type PhaseBarProps = {
  phases: readonly Phase[];
  /** Where the call was stopped, if it was: the phase's name. */
  stoppedAt?: string | undefined;
};

/** Where the time of one call went: our part against the upstream's, then each phase. The list below the bar is its table twin. */
export function PhaseBar({ phases, stoppedAt }: PhaseBarProps) {
  const total = phases.reduce((sum, phase) => sum + phase.ms, 0);
  const inside = phases.reduce((sum, phase) => sum + (phase.where === 'inside' ? phase.ms : 0), 0);
  return (
    <figure className="flex flex-col gap-2">
      <figcaption className="figures flex flex-wrap gap-x-4 text-xs">
        <span className="font-medium text-ink">{exactMillis(total)} total</span>
        <span className="flex items-center gap-1.5 text-ink-2">
          <span aria-hidden className="keep-fill size-2 rounded-xs bg-accent" /> {exactMillis(inside)} gateway
        </span>
        <span className="flex items-center gap-1.5 text-ink-2">
          <span aria-hidden className="keep-fill size-2 rounded-xs bg-line-control" /> {exactMillis(total - inside)} upstream
        </span>
      </figcaption>
      <div aria-hidden className="keep-fill flex h-2.5 gap-px overflow-hidden rounded-sm bg-pressed">
        {phases.map((phase) => (
          <span
            key={phase.name}
            title={`${phase.name}: ${exactMillis(phase.ms)}`}
            className={cn('min-w-0.5', phase.where === 'inside' ? 'bg-accent' : 'bg-line-control')}
            // Shares of a hundred: growth factors that add up to less than one would leave the bar unfilled.
            style={{ flexGrow: Math.max((phase.ms / (total || 1)) * 100, 0.4) }}
          />
        ))}
      </div>
      <ol className="flex flex-col text-xs">
        {phases.map((phase) => (
          <li key={phase.name} className="grid grid-cols-[8rem_1fr_4.5rem] sm:grid-cols-[13rem_1fr_4.5rem] items-center gap-3 py-0.5">
            <span className={cn('sm:truncate', phase.name === stoppedAt ? 'font-medium text-note-ink' : 'text-ink-2')}>
              {phase.name}
              {phase.name === stoppedAt && ' · stopped here'}
            </span>
            <span aria-hidden className="keep-fill relative h-1 rounded-full bg-subtle">
              <span
                className={cn('absolute inset-y-0 min-w-0.5 rounded-full', phase.where === 'inside' ? 'bg-accent' : 'bg-line-control')}
                style={{ left: `${offset(phases, phase, total).toString()}%`, width: `${((phase.ms / (total || 1)) * 100).toString()}%` }}
              />
            </span>
            <span className="figures text-right text-ink-3">{exactMillis(phase.ms)}</span>
          </li>
        ))}
      </ol>
    </figure>
  );
}

function offset(phases: readonly Phase[], until: Phase, total: number): number {
  const before = phases.slice(0, phases.indexOf(until)).reduce((sum, phase) => sum + phase.ms, 0);
  return (before / (total || 1)) * 100;
}
