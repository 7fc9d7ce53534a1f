import { isExact } from '#server/kernel/lossless-json.ts';
import type { Members } from './keywords.ts';
import type { SchemaPattern } from './patterns.ts';

// What the parts of a check share.

/** Where a value doesn't fit: a JSON pointer, the keyword that says so, and why in words. Never a value, and of names only those of unknown members. */
export type Fault = { path: string; keyword: string; message: string };

export type Format = { of: 'string' | 'number'; test: (value: never) => boolean };

/** A schema that is ready to run. */
export type Prepared = {
  root: unknown;
  /** What each reference leads to. */
  targets: ReadonlyMap<string, unknown>;
  /** Compiled; a pattern that isn't here is not applied. */
  patterns: ReadonlyMap<string, SchemaPattern>;
  formats: ReadonlyMap<string, Format>;
  /** The values of `enum`s as `keyOfScalar` has them, at their first use. */
  scalars: WeakMap<object, ReadonlySet<unknown>>;
};

/**
 * What one check may do: units of about 25 ns, so 15 ms. A schema, a member, an item, a compared value and a character that a pattern reads each cost a few.
 * Everything is charged before it is done.
 */
export const MOST_WORK = 600_000;
const COST_OF_SCHEMA = 4;
export const DEEPEST = 400;
export const MOST_FAULTS = 5;

/** The check would take more work than it may. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork';
}

/** A fault whose path isn't written out yet: most of those of branches never are. */
export type Found = { place: Place; keyword: string; message: string };
export type Place = { up: Place; key: string | number } | null;
/** What of an object or a list some schema has looked at, for `unevaluatedProperties` and `unevaluatedItems`. */
export type Seen = Set<string | number>;

/** A check: what is left of its work, and how its parts go on with what is inside. */
export type Run = {
  of: Prepared;
  left: number;
  depth: number;
  fits: (run: Run, schema: unknown, value: unknown, place: Place, faults: Found[] | null, seenAbove: Seen | null) => boolean;
};

/** A schema at a value. Without `faults` it is only tried. */
export type Part<T = unknown> = {
  run: Run;
  schema: Members;
  value: T;
  place: Place;
  faults: Found[] | null;
  seen: Seen | null;
  good: boolean;
};

export function charge(run: Run, units: number): void {
  run.left -= units;
  if (run.left < 0) throw new TooMuchWork();
}

/** One level deeper. */
export function enter(run: Run): void {
  charge(run, COST_OF_SCHEMA);
  if (++run.depth > DEEPEST) throw new TooMuchWork();
}

/** Says that the value doesn't fit. */
export function say(part: Part, keyword: string, message: string): void {
  part.good = false;
  add(part.faults, part.place, keyword, message);
}

/** A value inside must fit. */
export function must({ run, place, faults }: Part, child: unknown, inner: unknown, key: string | number): boolean {
  return run.fits(run, child, inner, { up: place, key }, faults, null);
}

/** Whether a value inside fits. */
export const tried = ({ run }: Part, child: unknown, inner: unknown): boolean => run.fits(run, child, inner, null, null, null);

export function add(faults: Found[] | null, place: Place, keyword: string, message: string): void {
  if (faults !== null && faults.length < MOST_FAULTS) faults.push({ place, keyword, message });
}

export function pointer(place: Place): string {
  const steps: string[] = [];
  for (let at = place; at !== null; at = at.up) steps.push(String(at.key).slice(0, 200).replaceAll('~', '~0').replaceAll('/', '~1'));
  return steps
    .reverse()
    .map((step) => `/${step}`)
    .join('')
    .slice(0, 500);
}

export const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null || isExact(value);
