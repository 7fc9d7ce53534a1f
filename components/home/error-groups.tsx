'use client';

import type { z } from 'zod';
import { reasonOf } from '#components/logs/refusal-reasons.ts';
import { Badge, HttpStatus } from '#components/ui/badge.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Time } from '#components/ui/time.tsx';
import type { LogFailures } from '#server/domain/request-logs/figures.schema.ts';

type Groups = z.output<typeof LogFailures>['groups'];
const SHOWN = 8;

/** What fails, by route, status and reason, each with how often and since when. A kind that is new in this time says so. */
export function ErrorGroups({ groups, hrefOf }: { groups: Groups; hrefOf: (filters: Record<string, string>) => string }) {
  return (
    <SectionCard
      title="Errors"
      description={groups.some((group) => group.is_new) ? '"New" means not seen in the previous period.' : undefined}
    >
      <ul className="flex flex-col">
        {groups.slice(0, SHOWN).map((group) => (
          <li key={`${group.route_id} ${group.status_code} ${group.error}`} className="border-line border-t first:border-t-0">
            <Link
              href={hrefOf({
                ...(group.route_id ? { route_id: group.route_id } : {}),
                ...(group.status_code ? { status: group.status_code.toString() } : {}),
                ...(group.error ? { error: group.error } : {}),
              })}
              className="-mx-2 grid grid-cols-[2.75rem_minmax(0,1fr)_auto] items-center gap-x-3 rounded-sm px-2 py-1.5 hover:bg-subtle"
            >
              <HttpStatus status={group.status_code} className="w-fit" />
              <span className="min-w-0">
                <span className="flex min-w-0 items-center gap-2">
                  <span className="line-clamp-2 sm:line-clamp-1">
                    {group.error ? capitalize(reasonOf(group.error)) : 'The upstream returned an error'}
                  </span>
                  {group.is_new && <Badge tone="warn">new</Badge>}
                </span>
                <span className="block truncate text-ink-3 text-xs">
                  {group.route_name ?? (group.route_id ? 'Deleted route' : 'No matching route')}, last seen <Time value={group.last_at} />
                  {group.count > 1 && (
                    <span className="max-sm:hidden">
                      , first seen <Time value={group.first_at} />
                    </span>
                  )}
                </span>
              </span>
              <span className="figures font-medium">{grouped(group.count)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </SectionCard>
  );
}
