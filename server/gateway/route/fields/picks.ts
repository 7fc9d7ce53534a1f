import type { Place } from '#server/custody/fields/selectors.ts';

/** What a picked value is. Text is a value of a form, a query or a header. */
export type ValueKind = 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array' | 'text';

/** One value that actions pick, by its place in the bytes, and what becomes of it. */
export type Pick = {
  readonly kind: ValueKind;
  readonly from: number;
  to: number;
  /** A bit for each action that picks it. */
  readonly actions: number;
  /** For messages: where it stands, as a JSON Pointer or the name of a field. */
  readonly at: string;
  /** The source text that stands there now, in place of the bytes; null: the bytes. */
  now: string | null;
  /** What `now` is. */
  is: ValueKind;
  /** The source text that may be shown and kept in its place; null: the bytes. */
  shown: string | null;
};

export const newPick = (kind: ValueKind, from: number, to: number, actions: number, at: string): Pick => ({
  kind,
  from,
  to,
  actions,
  at,
  now: null,
  is: kind,
  shown: null,
});

/** How an action picks: where its selectors begin, and whether a picked object or array is one value (encrypt, sign) or all its leaves. */
export type Picker = { readonly root: Place; readonly whole: boolean };

/** More actions than bits are run in several walks. */
export const MOST_PICKERS = 30;

/** The body can't be walked through: it isn't what its media type says, or picks too much. `reason` is public. */
export class Unwalkable extends Error {
  override readonly name = 'Unwalkable';
  readonly reason: string;
  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/** As many values as one call may have processed (interface rule 41 §8). */
export const MOST_PICKS = 2_000;

/**
 * The bytes with every change in its place, as pieces: what nobody picked is neither copied nor written anew. `view` picks which text stands in for a
 * value. Values inside of one that was replaced as a whole are gone with it.
 */
export function spliced(bytes: Buffer, picks: readonly Pick[], view: 'now' | 'shown', from = 0, to = bytes.length): Buffer[] {
  const pieces: Buffer[] = [];
  let at = from;
  for (const pick of picks) {
    const text = pick[view];
    if (text === null || pick.from < at || pick.to > to) continue;
    if (pick.from > at) pieces.push(bytes.subarray(at, pick.from));
    pieces.push(Buffer.from(text));
    at = pick.to;
  }
  if (at < to) pieces.push(bytes.subarray(at, to));
  return pieces;
}
