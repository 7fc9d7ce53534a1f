import type { Place } from '#server/custody/fields/selectors.ts';
import { blanks, scalarEnd, stringEnd, valueEnd } from '../../templates/json-bytes.ts';
import { MOST_PICKS, newPick, type Pick, type Picker, Unwalkable, type ValueKind } from './picks.ts';

/** What was found in a JSON text. `close` is the closing brace of the object that it is, -1 when it is none. */
export type JsonPicks = { picks: Pick[]; close: number; empty: boolean };

/** Below this nothing is picked (interface rule 41 §8); a body that goes deeper where selectors lead is refused. */
const DEEPEST = 64;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * One walk over a JSON text, which is all of RFC 8259 or refused. It builds no values: what selectors don't lead to is only judged. A name
 * that stands twice is picked twice, however each is escaped. Picks are in the order of the text, objects before what is in them.
 * @throws Unwalkable
 */
export function pickJson(bytes: Buffer, pickers: readonly Picker[]): JsonPicks {
  const to = bytes.length;
  const picks: Pick[] = [];
  const path: (string | number)[] = [];
  const found: JsonPicks = { picks, close: -1, empty: false };
  const root = blanks(bytes, 0);
  const end = value(
    root,
    pickers.map((picker) => picker.root),
    0,
  );
  if (blanks(bytes, end) !== to) throw malformed();
  return found;

  /** Behind the value that begins here. `done`: a bit for each action that has picked what this is in as one. */
  function value(at: number, places: readonly Place[], done: number): number {
    if (at >= to) throw malformed();
    let [bits, whole, live] = [0, 0, false];
    for (let i = 0; i < places.length; i++) {
      const place = places[i] as Place;
      if (done & (1 << i)) continue;
      if (place.picked) {
        bits |= 1 << i;
        if ((pickers[i] as Picker).whole) whole |= 1 << i;
        else live = true;
      } else if (!place.closed) live = true;
    }
    const first = bytes[at];
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
      const end = first === QUOTE ? stringEnd(bytes, at) : scalarEnd(bytes, at);
      if (end < 0 || end > to) throw malformed();
      if (bits !== 0) add(KINDS[first ?? 0] ?? 'number', at, end, bits);
      return end;
    }
    const pick = whole === 0 ? undefined : add(first === OPEN_BRACE ? 'object' : 'array', at, at, whole);
    if (path.length === DEEPEST && live) throw new Unwalkable(`is nested deeper than ${DEEPEST} levels`);
    const isRoot = path.length === 0 && at === root;
    const end =
      !live && !isRoot
        ? valueEnd(bytes, at)
        : first === OPEN_BRACE
          ? object(at, places, done | whole, isRoot)
          : array(at, places, done | whole);
    if (end < 0 || end > to) throw malformed();
    if (pick) pick.to = end;
    return end;
  }

  function object(open: number, places: readonly Place[], done: number, isRoot: boolean): number {
    let at = blanks(bytes, open + 1);
    const empty = bytes[at] === CLOSE_BRACE;
    while (!empty) {
      const name = at;
      at = stringEnd(bytes, at);
      if (at < 0) throw malformed();
      const text = nameOf(bytes, name, at);
      at = blanks(bytes, at);
      if (bytes[at] !== COLON) throw malformed();
      path.push(text);
      at = value(
        blanks(bytes, at + 1),
        places.map((place) => (place.closed ? place : place.member(text))),
        done,
      );
      path.pop();
      at = blanks(bytes, at);
      if (bytes[at] === CLOSE_BRACE) break;
      if (bytes[at] !== COMMA) throw malformed();
      at = blanks(bytes, at + 1);
    }
    if (isRoot) [found.close, found.empty] = [at, empty];
    return at + 1;
  }

  function array(open: number, places: readonly Place[], done: number): number {
    let at = blanks(bytes, open + 1);
    if (bytes[at] === CLOSE_BRACKET) return at + 1;
    for (let index = 0; ; index++) {
      path.push(index);
      at = value(
        at,
        places.map((place) => (place.closed ? place : place.element(index))),
        done,
      );
      path.pop();
      at = blanks(bytes, at);
      if (bytes[at] === CLOSE_BRACKET) return at + 1;
      if (bytes[at] !== COMMA) throw malformed();
      at = blanks(bytes, at + 1);
    }
  }

  function add(kind: ValueKind, at: number, end: number, bits: number): Pick {
    if (picks.length === MOST_PICKS) throw new Unwalkable(`has more than ${MOST_PICKS} values that field actions apply to`);
    const pick = newPick(kind, at, end, bits, pointerOf(path));
    picks.push(pick);
    return pick;
  }
}

const malformed = () => new Unwalkable('is not valid JSON');

const KINDS: Readonly<Record<number, ValueKind>> = { [QUOTE]: 'string', 116: 'boolean', 102: 'boolean', 110: 'null' };

function nameOf(bytes: Buffer, from: number, to: number): string {
  const plain = bytes.toString('utf8', from + 1, to - 1);
  return plain.includes('\\') ? (JSON.parse(`"${plain}"`) as string) : plain;
}

/** RFC 6901. */
const pointerOf = (path: readonly (string | number)[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
