import { acrossSpaces } from '#server/kernel/across-spaces.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { unchanged } from '#server/kernel/mutate.ts';
import { clampPage, type Page, type PageRequest, pageOf } from '#server/kernel/page.ts';
import { places } from '#server/platform/geoip.ts';
import { countMatching } from './counts.ts';
import { locatedBy, viewsOf } from './details.ts';
import { rowsOf } from './entries.ts';
import type { AuditFilters } from './filters.ts';
import { type AuditKey, facetsOf, keysOf } from './store.ts';

const SPACES = [false, true] as const;
type Placed = AuditKey & { sandbox: boolean };

/** One page of the entries of Live and Test together, newest first, for pages that belong to the workspace. Each space is read by itself. */
export async function pageOfBothSpaces(ctx: Ctx, filters: AuditFilters, request: PageRequest): Promise<Page<LocatedView>> {
  const located = locatedBy(await places());
  const { skip, per_page } = clampPage(request);
  return acrossSpaces(ctx, async (within) => {
    const found: Placed[] = [];
    let total = 0;
    for (const sandbox of SPACES)
      await within(sandbox, async (tx, here) => {
        total += await countMatching(tx, here, filters);
        const keys = await keysOf(tx, here, filters, { order: 'newest', limit: skip + per_page });
        found.push(...keys.map((key) => ({ ...key, sandbox })));
        return unchanged(undefined);
      });
    const shown = found.sort(newestFirst).slice(skip, skip + per_page);
    const views = new Map<string, LocatedView>();
    for (const sandbox of SPACES)
      await within(sandbox, async (tx, here) => {
        const rows = await rowsOf(
          tx,
          here,
          shown.filter((key) => key.sandbox === sandbox),
        );
        for (const [i, view] of (await viewsOf(tx, here, rows)).entries()) views.set(String(rows[i]?.seq), located(view));
        return unchanged(undefined);
      });
    return pageOf(
      shown.flatMap(({ seq }) => views.get(String(seq)) ?? []),
      total,
      request,
    );
  });
}
export type LocatedView = Awaited<ReturnType<typeof viewsOf>>[number] & { ip_country: string | null };

/** Who is behind the newest matching entries of both spaces, at most `of` of each; the busiest first. */
export function actorsOfBothSpaces(
  ctx: Ctx,
  filters: AuditFilters,
  of: number,
): Promise<{ id: string; label: string | null; count: number }[]> {
  return acrossSpaces(ctx, async (within) => {
    const actors = new Map<string, { id: string; label: string | null; count: number }>();
    for (const sandbox of SPACES)
      await within(sandbox, async (tx, here) => {
        for (const { kind, value: id, label, count } of await facetsOf(tx, here, filters, of))
          if (kind === 'actor') actors.set(id, { id, label, count: count + (actors.get(id)?.count ?? 0) });
        return unchanged(undefined);
      });
    return [...actors.values()].sort((a, b) => b.count - a.count);
  });
}

const newestFirst = (a: Placed, b: Placed) => b.at.getTime() - a.at.getTime() || Number(b.seq - a.seq);
