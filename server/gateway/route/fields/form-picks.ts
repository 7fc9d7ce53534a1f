import { grouped } from '#server/kernel/numbers.ts';
import { STRIDE, type Steps } from '#server/kernel/slices.ts';
import { formDecode, MOST_FIELDS } from '../../templates/render.ts';
import { MOST_PICKS, newPick, type Pick, type Picker, Unwalkable } from './picks.ts';

const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const LONGEST_NAME = 64 * 1024;

/**
 * The values of a form or a query that actions pick. Names are compared as a server reads them, decoded; a name that stands several times is picked each
 * time. @throws Unwalkable for a name that can't be read: nobody knows what it is
 */
export function* pickForm(bytes: Buffer, pickers: readonly Picker[]): Steps<Pick[]> {
  const picks: Pick[] = [];
  let fields = 0;
  let stop = STRIDE;
  for (let from = 0; from <= bytes.length; ) {
    let end = bytes.indexOf(AMPERSAND, from);
    if (end < 0) end = bytes.length;
    if (++fields > MOST_FIELDS) throw new Unwalkable(`has more than ${grouped(MOST_FIELDS)} fields`);
    const equals = bytes.subarray(from, end).indexOf(EQUALS);
    // A name alone has no value that could be processed.
    if (equals > LONGEST_NAME) throw new Unwalkable('has a field whose name is longer than 64 KiB');
    if (end > stop) {
      yield;
      stop = end + STRIDE;
    }
    if (equals >= 0) {
      const name = formDecode(bytes.toString('latin1', from, from + equals));
      if (name === undefined) throw new Unwalkable('has a field whose name is not valid percent-encoded UTF-8');
      // Bytes beyond ASCII that nobody encoded are read as UTF-8 by servers.
      const bits = bitsOf(pickers, /[\x80-\xff]/.test(name) ? Buffer.from(name, 'latin1').toString() : name);
      if (bits !== 0) {
        if (picks.length === MOST_PICKS) throw new Unwalkable(`has more than ${grouped(MOST_PICKS)} values that field actions apply to`);
        picks.push(newPick('text', from + equals + 1, end, bits, name));
      }
    }
    from = end + 1;
  }
  return picks;
}

/** A bit for each action that picks this name of a flat list. */
export function bitsOf(pickers: readonly Picker[], name: string): number {
  let bits = 0;
  for (const [i, { root }] of pickers.entries()) if (root.picked || (!root.closed && root.member(name).picked)) bits |= 1 << i;
  return bits;
}
