import type { z } from 'zod';
import { acrossSpaces } from '#server/kernel/across-spaces.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { unchanged } from '#server/kernel/mutate.ts';
import { VERSIONS } from '#server/kernel/versions.ts';
import type { SeenVersions } from '../schema.ts';
import { SEEN_DAYS } from './tally.ts';

export { pruneVersions, recordVersionUse, writeVersions } from './tally.ts';

/** Who asked for which version of the API in the last thirty days, in both spaces; newest use first. */
export function versionsSeen(ctx: Ctx): Promise<z.input<typeof SeenVersions>> {
  const since = new Date(Math.floor(ctx.now.getTime() / DAY) * DAY - (SEEN_DAYS - 1) * DAY);
  return acrossSpaces(ctx, async (within, tx) => {
    // The counts belong to the workspace, the names of the keys each to their space.
    const rows = await tx.api_version_days.groupBy({
      by: ['sandbox', 'api_key_id', 'version', 'named'],
      where: { tenant_id: ctx.tenant_id, day: { gte: since } },
      _sum: { calls: true },
      _max: { last_at: true },
      orderBy: { _max: { last_at: 'desc' } },
      take: MOST,
    });
    const keys = new Map<string, { name: string; key_id: string; active: boolean }>();
    for (const sandbox of [false, true]) {
      const ids = [...new Set(rows.flatMap((row) => (row.sandbox === sandbox ? [row.api_key_id] : [])))];
      if (ids.length === 0) continue;
      const found = await within(sandbox, async (inside, here) =>
        unchanged(
          await inside.api_keys.findMany({
            where: { ...own(here), id: { in: ids } },
            select: { id: true, name: true, key_id: true, active: true },
          }),
        ),
      );
      for (const { id, ...key } of found) keys.set(id, key);
    }
    return {
      versions: VERSIONS.map((one, i) => ({ ...one, newest: i === 0 })),
      since: since.toISOString(),
      seen: rows.map(({ sandbox, api_key_id, version, named, _sum, _max }) => ({
        ...{ space: spaceOf(sandbox), api_key_id, version, named },
        name: keys.get(api_key_id)?.name ?? null,
        key_id: keys.get(api_key_id)?.key_id ?? null,
        active: keys.get(api_key_id)?.active ?? false,
        calls: Number(_sum.calls ?? 0n),
        last_at: _max.last_at ?? since,
      })),
    };
  });
}

const DAY = 86_400_000;
/** More than a page of people reads; the newest uses stand first. */
const MOST = 1_000;
