import { cn } from '#components/ui/cn.ts';
import { grouped, shareOf } from '#components/ui/numbers.ts';
import { limitDay } from './month.ts';

type Props = { used: number; limit: number; forecast: number | null; percentage: number; now: number };

/** What the month took of the plan, where it is heading, and where the plan ends; each in words as well. */
export function ForecastMeter({ used, limit, forecast, percentage, now }: Props) {
  const most = Math.max(limit, forecast ?? 0, used, 1);
  const share = (n: number) => `${((n / most) * 100).toString()}%`;
  const state = used >= limit ? 'full' : forecast !== null && forecast > limit ? 'over' : used >= limit * 0.8 ? 'close' : 'fine';
  const tone = { full: 'bg-bad', over: 'bg-warn', close: 'bg-warn', fine: 'bg-accent' }[state];
  const day = limitDay({ used, limit, now });
  const words = {
    full: 'Limit reached. Calls are refused until the end of the month.',
    over: `At this rate, you’ll reach the limit on ${day ? dayOf(day) : 'the last day of the month'}.`,
    close: 'You’ve used more than 80% of your plan.',
    fine: '',
  }[state];
  return (
    <div className="flex flex-col gap-2">
      <p className="figures flex flex-wrap items-baseline gap-x-2">
        <b className="font-semibold text-xl">{grouped(used)}</b>
        <span className="text-ink-2">
          of {grouped(limit)} calls ({percentage}%)
        </span>
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers paint <meter> in colours of their own. */}
      <div
        role="meter"
        aria-label="Live calls this month"
        aria-valuenow={used}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuetext={`${grouped(used)} of ${grouped(limit)}${forecast === null ? '' : `, about ${grouped(forecast)} expected`}`}
        className="keep-fill relative h-3 overflow-hidden rounded-full bg-pressed"
      >
        {forecast !== null && (
          <span
            className="absolute inset-y-0 left-0 rounded-r-full"
            style={{
              width: share(forecast),
              background: 'repeating-linear-gradient(45deg, var(--line-control) 0 2px, transparent 2px 5px)',
            }}
          />
        )}
        <span className={cn('absolute inset-y-0 left-0 rounded-full', tone)} style={{ width: share(used), minWidth: used > 0 ? 4 : 0 }} />
        {forecast !== null && forecast > limit && <span className="absolute inset-y-0 w-0.5 bg-ink" style={{ left: share(limit) }} />}
      </div>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-ink-2 text-xs">
        <span className="inline-flex items-center gap-1.5">
          <span aria-hidden className={cn('keep-fill size-2.5 rounded-xs', tone)} /> Used
        </span>
        {forecast !== null && (
          <span className="figures inline-flex items-center gap-1.5">
            <span
              aria-hidden
              className="keep-fill size-2.5 rounded-xs bg-pressed"
              style={{ backgroundImage: 'repeating-linear-gradient(45deg, var(--line-control) 0 2px, transparent 2px 4px)' }}
            />
            About {grouped(forecast)} expected by the end of the month, {shareOf(forecast, limit)} of your plan
          </span>
        )}
        {forecast === null && <span>Too early in the month for a forecast.</span>}
      </p>
      {words && <p className={cn('font-medium', state === 'full' ? 'text-bad-ink' : 'text-warn-ink')}>{words}</p>}
    </div>
  );
}

const dayOf = (day: string) =>
  new Intl.DateTimeFormat('en', { month: 'long', day: 'numeric', timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`));
