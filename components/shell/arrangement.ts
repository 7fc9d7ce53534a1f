/** The listed first, in the order of the list; the others after them, in their own. */
export function inOrder<T extends { id: string }>(all: readonly T[], order: readonly string[]): T[] {
  const at = ({ id }: T) => {
    const place = order.indexOf(id);
    return place === -1 ? order.length : place;
  };
  return all.toSorted((a, b) => at(a) - at(b));
}

export type ArrangedGroup<T> = { id: string; label?: string; items: readonly T[] };

/**
 * The groups as a person has arranged them (70 §3.2): what is pinned stands on top and nowhere else, Home follows, then the groups in their order.
 * A group of which everything is pinned is not shown.
 */
export function arranged<T extends { id: string }>(
  groups: readonly ArrangedGroup<T>[],
  pins: readonly string[],
  order: readonly string[],
): ArrangedGroup<T>[] {
  const all = groups.flatMap(({ items }) => items);
  const pinned = pins.flatMap((id) => all.find((item) => item.id === id) ?? []);
  const rest = inOrder(groups, ['home', ...order]).map((group) => ({
    ...group,
    items: group.items.filter((item) => !pinned.includes(item)),
  }));
  return [{ id: 'pinned', label: 'Pinned', items: pinned }, ...rest].filter(({ items }) => items.length > 0);
}
