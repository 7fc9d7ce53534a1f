'use client';

import { Check } from 'lucide-react';
import { useState } from 'react';
import { cn } from '#components/ui/cn.ts';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { grouped } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { type FacetGroup, type Facets, facetGroups } from './facet-groups.ts';
import type { LogSearch } from './list-search.ts';

type Props = { facets: Facets | undefined; search: LogSearch; onChange: (change: Partial<LogSearch>) => void; className?: string };

/** How many values of one group are there before one asks for the rest. */
const FEW = 5;

/** What the calls of the span can be narrowed by, beside them. */
export function FacetRail({ facets, search, onChange, className }: Props) {
  const environmentName = useEnvironmentLabel();
  if (!facets) return <Skeleton lines={12} label="Loading filters" className={className} />;
  const groups = facetGroups(facets, search, environmentName);
  return (
    <section aria-label="Filters" className={cn('flex flex-col gap-4', className)}>
      {groups.map((group) => (
        <Group key={group.title} group={group} most={Math.max(1, ...group.values.map(({ count }) => count ?? 0))} onChange={onChange} />
      ))}
      {groups.length === 0 && <p className="text-ink-3 text-xs">Nothing to filter by in this period.</p>}
      {facets.total_is_capped && <p className="text-ink-3 text-xs">Counts are of the newest {grouped(facets.total)} calls of the span.</p>}
    </section>
  );
}

function Group({ group: { title, values }, most, onChange }: { group: FacetGroup; most: number; onChange: Props['onChange'] }) {
  const [all, setAll] = useState(false);
  const shown = all ? values : values.filter((one, index) => index < FEW || one.chosen);
  return (
    <fieldset className="flex min-w-0 flex-col gap-0.5">
      <legend className="mb-1 px-1.5 font-medium text-ink-3 text-xs">{title}</legend>
      {shown.map(({ value, label, count, chosen, change }) => (
        <button
          key={value}
          type="button"
          aria-pressed={chosen}
          title={label}
          onClick={() => onChange(change)}
          className={cn(
            'relative flex min-h-6.5 items-center gap-1.5 overflow-hidden rounded-sm px-1.5 text-left text-xs hoverable:bg-subtle',
            chosen ? 'bg-accent-soft font-medium text-accent-ink' : 'text-ink-2',
          )}
        >
          <span
            aria-hidden
            className="absolute inset-y-1 left-0 rounded-r-xs bg-pressed/70"
            style={{ width: `${(((count ?? 0) / most) * 100).toString()}%` }}
          />
          {chosen && <Check aria-hidden className="relative size-3 shrink-0" />}
          <span className="relative min-w-0 flex-1 truncate">{label}</span>
          {count !== undefined && (
            <span className="figures relative text-ink-3">
              {grouped(count)}
              <span className="sr-only"> calls</span>
            </span>
          )}
        </button>
      ))}
      {values.length > FEW && (
        <button
          type="button"
          aria-expanded={all}
          onClick={() => setAll(!all)}
          className="min-h-6 self-start rounded-sm px-1.5 text-ink-3 text-xs hoverable:text-ink"
        >
          {all ? 'Show fewer' : `${(values.length - FEW).toString()} more`}
        </button>
      )}
    </fieldset>
  );
}
