import { acrossSpaces } from '#server/kernel/across-spaces.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { unchanged } from '#server/kernel/mutate.ts';
import { type Page, type PageRequest, pageFromStart, pageOf } from '#server/kernel/page.ts';
import { places } from '#server/platform/geoip.ts';
import { mergedKeys } from '#server/platform/lists/merged.ts';
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
  return acrossSpaces(ctx, async (within) => {
    let total = 0;
    for (const sandbox of SPACES) total += await inSpace(within, sandbox, (tx, here) => countMatching(tx, here, filters));
    const lists = SPACES.map(
      (sandbox) =>
        ({ beyond, offset, limit }: { beyond: Placed | undefined; offset: number; limit: number }) =>
          keysIn(within, sandbox, filters, { before: beyond, offset, limit }),
    );
    const keys = await mergedKeys(lists, pageFromStart(request, total), newestFirst);
    return pageOf(await viewsOfKeys(within, keys, located), total, request);
  });
}

/** The newest entries of both spaces that are older than a place, and the place of the last one. Takes as long at the end as at the beginning. */
export async function entriesOfBothSpaces(
  ctx: Ctx,
  filters: AuditFilters,
  { before, limit }: { before?: EntryPlace | undefined; limit: number },
): Promise<{ rows: LocatedView[]; last: EntryPlace | undefined }> {
  const located = locatedBy(await places());
  return acrossSpaces(ctx, async (within) => {
    const found: Placed[] = [];
    for (const sandbox of SPACES) found.push(...(await keysIn(within, sandbox, filters, { before, limit })));
    const keys = found.sort(newestFirst).slice(0, limit);
    return { rows: await viewsOfKeys(within, keys, located), last: keys.at(-1) };
  });
}
export type EntryPlace = Pick<AuditKey, 'at' | 'seq'>;

type Within = Parameters<Parameters<typeof acrossSpaces>[1]>[0];

/** A read in one space. */
async function inSpace<T>(within: Within, sandbox: boolean, work: (tx: Tx, here: Ctx) => Promise<T>): Promise<T> {
  let value: T | undefined;
  await within(sandbox, async (tx, here) => {
    value = await work(tx, here);
    return unchanged(undefined);
  });
  return value as T;
}

const keysIn = (
  within: Within,
  sandbox: boolean,
  filters: AuditFilters,
  place: { before: EntryPlace | undefined; offset?: number; limit: number },
): Promise<Placed[]> =>
  inSpace(within, sandbox, async (tx, here) =>
    (await keysOf(tx, here, filters, { order: 'newest', ...place })).map((key) => ({ ...key, sandbox })),
  );

async function viewsOfKeys(within: Within, keys: readonly Placed[], located: ReturnType<typeof locatedBy>): Promise<LocatedView[]> {
  const views = new Map<string, LocatedView>();
  for (const sandbox of SPACES)
    await inSpace(within, sandbox, async (tx, here) => {
      const rows = await rowsOf(
        tx,
        here,
        keys.filter((key) => key.sandbox === sandbox),
      );
      for (const [i, view] of (await viewsOf(tx, here, rows)).entries()) views.set(String(rows[i]?.seq), located(view));
    });
  return keys.flatMap(({ seq }) => views.get(String(seq)) ?? []);
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
