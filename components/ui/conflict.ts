import { capitalize } from './capitalize.ts';

/** One field that somebody else changed while it was being edited, in the three versions there are of it. */
export type Difference = {
  field: string;
  base: unknown;
  theirs: unknown;
  mine: unknown;
  /** I changed it too, to something else. */
  clash: boolean;
};
type Values = Readonly<Record<string, unknown>>;

/** What the other person changed and I would not save the same way, in the order of the form; empty when nothing of the form is concerned. */
export function differencesOf(base: Values, theirs: Values, mine: Values): Difference[] {
  return [...new Set([...Object.keys(theirs), ...Object.keys(mine)])].flatMap((field) => {
    const difference = { field, base: base[field], theirs: theirs[field], mine: mine[field] };
    if (same(difference.base, difference.theirs) || same(difference.mine, difference.theirs)) return [];
    return [{ ...difference, clash: !same(difference.mine, difference.base) }];
  });
}

/** Fields I changed and they did not: kept without a question. */
export const onlyMine = (base: Values, theirs: Values, mine: Values): string[] =>
  Object.keys(mine).filter((field) => !same(mine[field], base[field]) && same(theirs[field], base[field]));

/** Equal as values: the order of an object's members does not matter, nothing and undefined are one. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b || (a ?? null) === (b ?? null)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => same((a as Values)[name], (b as Values)[name]));
}

export type Choice = 'mine' | 'theirs';

/** What to save: their version, with my changes on top wherever they were kept. */
export function resolved(base: Values, theirs: Values, mine: Values, choices: Readonly<Record<string, Choice>>): Record<string, unknown> {
  const kept = [...onlyMine(base, theirs, mine), ...Object.keys(choices).filter((field) => choices[field] === 'mine')];
  return { ...theirs, ...Object.fromEntries(kept.map((field) => [field, mine[field]])) };
}

/** The wire name of a field in words: `rate_limit_window_sec` is "Rate limit window", `ip_address` "IP address". */
export const inWords = (field: string): string => {
  const text = field
    .replace(/_(id|json|sec|ids)$/, '')
    .replaceAll('_', ' ')
    .replace(/\b(?:api|ca|ip|url)\b/g, (short) => short.toUpperCase());
  return capitalize(text);
};
