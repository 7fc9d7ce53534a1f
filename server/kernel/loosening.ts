import { isDeepStrictEqual } from 'node:util';
import { rangesCover } from './address.ts';

/** Why the change of a setting needs no confirmation, or whether going from one value to the other takes a protection away. */
export type Rule<V> = 'harmless' | ((before: V, after: V) => boolean);

/** A rule for every setting: a new one without a rule doesn't compile. */
export type Looser<T> = { readonly [K in keyof Required<T>]: Rule<Exclude<T[K], undefined>> };

/** The settings that a change loosens. What `after` doesn't name stays as it was. */
export function loosened<T extends object>(
  before: { readonly [K in keyof T]?: unknown },
  after: Partial<T>,
  rules: Looser<T>,
): (keyof T & string)[] {
  return (Object.keys(rules) as (keyof T & string)[]).filter((name) => {
    const [rule, value] = [rules[name], after[name]];
    return typeof rule === 'function' && value !== undefined && rule(before[name] as never, value as never);
  });
}

// Rules that many settings share.

export const turnedOff = (before: boolean, after: boolean): boolean => before && !after;
export const turnedOn = (before: boolean, after: boolean): boolean => !before && after;

/** A guard that something names, or a limit that can't be compared: null is none. */
export const replaced = (before: string | null, after: string | null): boolean => before !== null && after !== before;

/** Whatever the change is, nobody can say that it keeps what was protected. */
export const changed = (before: unknown, after: unknown): boolean => !isDeepStrictEqual(before, after);

/** Rules of which each refuses or hides something. */
export const losesOne = (before: readonly unknown[], after: readonly unknown[]): boolean =>
  before.some((rule) => !after.some((one) => isDeepStrictEqual(rule, one)));

/** Which half of a call a webhook checks. */
export const checksLess = (before: Half, after: Half): boolean => before !== after && before !== 'off' && after !== 'both';
type Half = 'off' | 'request' | 'response' | 'both';

/** A cap: null is none. */
export const raised = (before: number | null, after: number | null): boolean => before !== null && (after === null || after > before);

/** An end: null is never. */
export const later = (before: Date | null, after: Date | null): boolean => before !== null && (after === null || after > before);

/** A list of what is allowed, empty for everything. */
export const allowsMore = (before: readonly string[], after: readonly string[]): boolean =>
  before.length > 0 && (after.length === 0 || after.some((one) => !before.includes(one)));

/** A list of what is allowed, empty for nothing. */
export const adds = (before: readonly string[], after: readonly string[]): boolean => after.some((one) => !before.includes(one));

/** A list of what is refused. */
export const drops = (before: readonly string[], after: readonly string[]): boolean => adds(after, before);

/** A list of addresses and ranges that are allowed, empty for any. */
export const allowsMoreAddresses = (before: readonly string[], after: readonly string[]): boolean =>
  before.length > 0 && (after.length === 0 || !rangesCover(before, after));

/** Words in the order of what they protect, the strictest first. */
export const weaker =
  <V extends string>(...strictestFirst: readonly V[]) =>
  (before: V, after: V): boolean =>
    strictestFirst.indexOf(after) > strictestFirst.indexOf(before);
