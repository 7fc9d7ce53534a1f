'use client';

import { usePath } from '#components/trpc/provider.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped, millis, shareOf } from '#components/ui/numbers.ts';

type TopRoute = { route_id: string | null; name: string | null; count: number; errors: number; p95: number | null };

/** The routes with the most calls in the time shown. */
export function BusiestRoutes({ routes }: { routes: readonly TopRoute[] }) {
  const path = usePath();
  return (
    <SectionCard title="Busiest routes">
      <table className="w-full text-left">
        <caption className="sr-only">Busiest routes</caption>
        <thead className="text-ink-3 text-xs">
          <tr>
            <th scope="col" className="pb-1 font-medium">
              Route
            </th>
            <th scope="col" className="pb-1 text-right font-medium">
              Calls
            </th>
            <th scope="col" className="pb-1 text-right font-medium">
              Errors
            </th>
            <th scope="col" className="pb-1 text-right font-medium max-sm:hidden">
              p95
            </th>
          </tr>
        </thead>
        <tbody className="figures">
          {routes.slice(0, 6).map((route) => (
            <tr key={route.route_id ?? 'none'} className="border-line border-t">
              <td className="py-1.5">
                {route.route_id ? (
                  <Link href={path(`/routes/${route.route_id}`)} className="rounded-xs font-medium hover:underline">
                    {route.name ?? 'Deleted route'}
                  </Link>
                ) : (
                  <span className="text-ink-3">No matching route</span>
                )}
              </td>
              <td className="py-1.5 text-right">{grouped(route.count)}</td>
              <td className="py-1.5 text-right">{shareOf(route.errors, route.count)}</td>
              <td className="py-1.5 text-right max-sm:hidden">{millis(route.p95)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </SectionCard>
  );
}
