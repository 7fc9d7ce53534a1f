type Grouped = { id: string; group: string };

/** Neighbours about the same thing stand together, the newest in front. The order of the list stays. */
export function groupsOf<T extends Grouped>(rows: readonly T[]): { newest: T; earlier: T[] }[] {
  const groups: { newest: T; earlier: T[] }[] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last && last.newest.group === row.group) last.earlier.push(row);
    else groups.push({ newest: row, earlier: [] });
  }
  return groups;
}
