'use client';

import { useState } from 'react';
import type { z } from 'zod';
import { Button } from '#components/ui/button.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { grouped, shareOf } from '#components/ui/numbers.ts';
import type { LogStats } from '#server/domain/request-logs/figures.schema.ts';
import { countryName } from '#server/domain/tenants/country.shared.ts';

const FEW = 8;

type Props = { countries: Countries; title: string };
type Countries = NonNullable<z.output<typeof LogStats>['countries']>;

/** Calls per country, most first, and how many calls were counted. Renders nothing if no country is known. */
export function CallCountries({ countries: { calls, of_newest, is_capped }, title }: Props) {
  const [all, setAll] = useState(false);
  const known = calls.filter(({ country }) => country !== null);
  if (known.length === 0) return null;
  const unknown = calls.filter(({ country }) => country === null);
  const most = Math.max(...calls.map(({ count }) => count));
  return (
    <SectionCard
      title={title}
      description={`By IP address, for ${is_capped ? `the newest ${grouped(of_newest) ?? ''}` : 'all'} calls in this period.`}
    >
      <div className="flex flex-col gap-2">
        <ul className="flex flex-col gap-0.5">
          {[...(all ? known : known.slice(0, FEW)), ...unknown].map(({ country, count }) => (
            <li key={country ?? 'unknown'} className="relative flex min-h-7 items-center gap-2 overflow-hidden rounded-sm px-2">
              <span
                aria-hidden
                className="absolute inset-y-0.5 left-0 rounded-xs bg-pressed/70"
                style={{ width: `${((count / most) * 100).toString()}%` }}
              />
              {country ? (
                <>
                  <span aria-hidden className="relative w-6 shrink-0 font-mono text-ink-3 text-xs">
                    {country}
                  </span>
                  {/* Node and the browser may name a country differently. */}
                  <span suppressHydrationWarning className="relative min-w-0 flex-1 truncate">
                    {countryName(country)}
                  </span>
                </>
              ) : (
                <span className="relative min-w-0 flex-1 truncate text-ink-3">Unknown or private</span>
              )}
              <span className="figures relative text-ink-2 text-xs">{shareOf(count, of_newest)}</span>
              <span className="figures relative w-16 shrink-0 text-right">
                {grouped(count)}
                <span className="sr-only"> calls</span>
              </span>
            </li>
          ))}
        </ul>
        {known.length > FEW && (
          <Button size="sm" className="self-start" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? 'Show fewer' : `Show all ${known.length.toString()}`}
          </Button>
        )}
      </div>
    </SectionCard>
  );
}
