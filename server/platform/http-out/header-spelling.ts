import { lowerName } from '../header-name.ts';

/** Of lists that were changed since they came: spellings by name in lower case. */
const byName = new WeakMap<readonly string[], Map<string, string>>();

/** A field's name as its sender wrote it; the name itself where that isn't known. `index` is that of the field, `spelled` the names of all as they came. */
export function spelledAs(name: string, index: number, spelled: readonly string[] | undefined): string {
  if (spelled === undefined) return name;
  const same = spelled[index];
  if (same !== undefined && lowerName(same) === name) return same;
  let known = byName.get(spelled);
  if (known === undefined) {
    known = new Map(spelled.map((one) => [lowerName(one), one]));
    byName.set(spelled, known);
  }
  return known.get(name) ?? name;
}
