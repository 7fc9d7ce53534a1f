type Row = { id: string };

/** What of the newest rows is not in the list yet; `gap` when none of them is, so that there may be more between. */
export function newerEntries<R extends Row>(
  newest: readonly R[] | undefined,
  below: readonly R[] | undefined,
): { fresh: readonly R[]; gap: boolean } {
  if (!newest || !below) return { fresh: [], gap: false };
  const known = new Set(below.map(({ id }) => id));
  const fresh = newest.filter(({ id }) => !known.has(id));
  return { fresh, gap: fresh.length > 0 && fresh.length === newest.length && below.length > 0 };
}
