// An engine puts names that are whole numbers, such as "2", before all others and in ascending order. Where a value's author wrote them elsewhere, the value
// tells its names in the order they were written.

/** Whether an engine takes a name for a place in a list. */
export const isIndex = (name: string): boolean => INDEX.test(name) && Number(name) < 2 ** 32 - 1;
const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/** Whether names stand as an engine tells them. */
export function isOrderOfEngine(names: readonly string[]): boolean {
  let greatest = -1;
  for (const name of names) {
    const place = isIndex(name) ? Number(name) : Number.POSITIVE_INFINITY;
    if (place < greatest) return false;
    greatest = place;
  }
  return true;
}

/** The object, which tells its names in this order, and later ones behind them. Copies member by member (`{ ...object }`) lose the order: see `objectOf`. */
export function inOrder<T extends object>(object: T, names: readonly string[]): T {
  const listed = new Set<string | symbol>(names);
  return new Proxy(object, {
    ownKeys: (target) => [
      ...[...listed].filter((name) => Object.hasOwn(target, name)),
      ...Reflect.ownKeys(target).filter((name) => !listed.has(name)),
    ],
  });
}

/** `Object.fromEntries`, whose object tells its names in the order of the members. Names are data, `__proto__` too, and come once. */
export function objectOf<T>(members: readonly (readonly [string, T])[]): Record<string, T> {
  const object = Object.fromEntries(members);
  const names = members.map(([name]) => name);
  return isOrderOfEngine(names) ? object : inOrder(object, names);
}
