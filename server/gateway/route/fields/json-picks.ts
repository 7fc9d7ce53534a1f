import type { Place } from '#server/custody/fields/selectors.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { STRIDE, type Steps } from '#server/kernel/slices.ts';
import { blanks, LONGEST_NAME, scalarEnd, stringEnd, stringSteps, UNENDED, valueEnd } from '../../templates/json-bytes.ts';
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

/** An object or array that the walk is in. */
type Frame = { close: number; places: readonly Place[]; done: number; index: number; pick: Pick | undefined };

/**
 * One walk over a JSON text, which is all of RFC 8259 or refused. It builds no values: what selectors don't lead to is only judged. A name
 * that stands twice is picked twice, however each is escaped. Picks are in the order of the text, objects before what is in them.
 * @throws Unwalkable
 */
export function* pickJson(bytes: Buffer, pickers: readonly Picker[]): Steps<JsonPicks> {
  const to = bytes.length;
  const picks: Pick[] = [];
  const frames: Frame[] = [];
  const path: (string | number)[] = [];
  const found: JsonPicks = { picks, close: -1, empty: false };
  let places: readonly Place[] = pickers.map((picker) => picker.root);
  /** A bit for each action that has picked what this is in as one. */
  let done = 0;
  let at = blanks(bytes, 0);
  let stop = at + STRIDE;
  for (;;) {
    if (at >= to) throw malformed();
    if (at > stop) {
      yield;
      stop = at + STRIDE;
    }
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
    const first = bytes[at] as number;
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
      const short = first === QUOTE ? stringEnd(bytes, at) : scalarEnd(bytes, at);
      const end = ended(short === UNENDED ? yield* stringSteps(bytes, at) : short);
      if (bits !== 0) add(KINDS[first] ?? 'number', at, end, bits);
      at = end;
    } else {
      const pick = whole === 0 ? undefined : add(first === OPEN_BRACE ? 'object' : 'array', at, at, whole);
      if (frames.length === DEEPEST && live) throw new Unwalkable(`is nested deeper than ${DEEPEST} levels`);
      if (!live && frames.length > 0) {
        at = ended(yield* valueEnd(bytes, at));
        if (pick) pick.to = at;
      } else {
        const frame = { close: first + 2, places, done: done | whole, index: 0, pick };
        at = blanks(bytes, at + 1);
        const empty = bytes[at] === frame.close;
        if (frames.push(frame) === 1) found.empty = empty && first === OPEN_BRACE;
        if (!empty) {
          const named = nameEnd(frame);
          enter(frame, named === UNENDED ? yield* stringSteps(bytes, at) : named);
          continue;
        }
      }
    }
    // Behind a value, or at the end of what is empty.
    for (;;) {
      const frame = frames.at(-1);
      at = blanks(bytes, at);
      if (!frame) {
        if (at !== to) throw malformed();
        return found;
      }
      if (bytes[at] !== frame.close) {
        if (bytes[at] !== COMMA) throw malformed();
        at = blanks(bytes, at + 1);
        const named = nameEnd(frame);
        enter(frame, named === UNENDED ? yield* stringSteps(bytes, at) : named);
        break;
      }
      if (frames.length === 1 && frame.close === CLOSE_BRACE) found.close = at;
      at += 1;
      if (frame.pick) frame.pick.to = at;
      frames.pop();
      path.length = frames.length;
    }
  }

  /** Behind the name of the next member, UNENDED when it is long; here where an element stands. */
  function nameEnd(frame: Frame): number {
    return frame.close === CLOSE_BRACKET ? at : stringEnd(bytes, at);
  }

  /** Goes on to the value of the next member, whose name ends at `named`, or element. */
  function enter(frame: Frame, named: number): void {
    const depth = frames.length - 1;
    done = frame.done;
    if (frame.close === CLOSE_BRACKET) {
      const index = frame.index++;
      path[depth] = index;
      places = frame.places.map((place) => (place.closed ? place : place.element(index)));
      return;
    }
    const end = ended(named);
    if (end - at > LONGEST_NAME) throw new Unwalkable('has a member whose name is longer than 64 KiB');
    const text = nameOf(bytes, at, end);
    path[depth] = text;
    at = blanks(bytes, end);
    if (bytes[at] !== COLON) throw malformed();
    at = blanks(bytes, at + 1);
    places = frame.places.map((place) => (place.closed ? place : place.member(text)));
  }

  function ended(end: number): number {
    if (end < 0 || end > to) throw malformed();
    return end;
  }

  function add(kind: ValueKind, at: number, end: number, bits: number): Pick {
    if (picks.length === MOST_PICKS) throw new Unwalkable(`has more than ${grouped(MOST_PICKS)} values that field actions apply to`);
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
