import { isEscaped, unguessable } from './json-strings.ts';
import { isExact, isNumber, LosslessNumber } from './lossless-number.ts';
import { inOrder, isIndex, isOrderOfEngine, objectOf } from './name-order.ts';
import { everyObject } from './plain-json.ts';
import { atOnce, STRIDE, type Steps } from './slices.ts';

// JSON of customers, which is stored, signed and sent as its author wrote it: 1299.10 keeps its last digit and 2^60 its value, where a double would change
// both, and names such as "2" stay where they stood, where an engine puts them first. Only a text (`json-text.ts`) also keeps repeated names.

export { isExact, isNumber, LosslessNumber };

/**
 * A JSON text, whose shape its reader has bounded, as values; a number that a double would write differently is a `LosslessNumber`, which `JSON.stringify`
 * writes as it was. Member names are data, `__proto__` too. Of a repeated name the last value counts, as with `JSON.parse`. @throws SyntaxError
 */
export const parseExact = (text: string): unknown => atOnce(parseExactSteps(text));

/**
 * The same in steps, for a text of megabytes. One scan finds the numbers that a double would change, and the names that an engine may move; a text without
 * any is parsed as it is. A reviver would do the same in ten times the time. Such numbers take ten times as long as others to read and to write, which is not
 * done in steps, and such names fifty times: hence `most` and `MOST_MOVED`.
 * @throws SyntaxError, RangeError when there are more
 */
export function* parseExactSteps(text: string, most = Number.POSITIVE_INFINITY): Steps<unknown> {
  const scan: Scan = { text, mark: '', at: 0, copied: 0, string: -1, marked: [], left: most, moved: 0, indexed: false, greatest: [] };
  for (scanTo(scan, STRIDE); scan.at < text.length; scanTo(scan, scan.at + STRIDE)) yield;
  if (scan.copied === 0) return JSON.parse(text);
  return yield* unmarkSteps(JSON.parse(scan.marked.join('') + text.slice(scan.copied)), scan);
}

/** Names of members that an engine would move, in one text. */
export const MOST_MOVED = 10_000;

/**
 * `string` is where the string began that the scan is in, or -1; the text before `copied` is in `marked`, each of the numbers as a string that begins with
 * the mark, as do the names that would be `moved`. `left` is how many more numbers may be found. `greatest` has for each open object the greatest place that its names stand for so
 * far, Infinity behind the first other name; the last name was `indexed` when it stood for one.
 */
type Scan = {
  readonly text: string;
  readonly marked: string[];
  mark: string;
  at: number;
  copied: number;
  string: number;
  left: number;
  moved: number;
  indexed: boolean;
  readonly greatest: number[];
};

function scanTo(scan: Scan, stop: number): void {
  const { text } = scan;
  let at = scan.at;
  for (; at < text.length && at <= stop; at++) {
    if (scan.string >= 0) {
      at = text.indexOf('"', at);
      if (at < 0)
        at = text.length; // the parser says what is wrong
      else if (!isEscaped(text, scan.string, at)) scan.string = -1;
      continue;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      scan.string = at + 1;
      if (isDigit(text.charCodeAt(at + 1))) markName(scan, at + 1);
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      const number = text.slice(at, end);
      if (isChanged(number) && !isName(text, end)) {
        if (--scan.left < 0) throw new RangeError('more numbers with digits of their own than the reader takes');
        mark(scan, at, `"${markOf(scan)}${number}"`, end);
      }
      at = end - 1;
    } else if (code === COLON) {
      if (!scan.indexed) scan.greatest[scan.greatest.length - 1] = Number.POSITIVE_INFINITY;
      scan.indexed = false;
    } else if (code === OPEN) scan.greatest.push(-1);
    else if (code === CLOSE) scan.greatest.pop();
  }
  scan.at = at;
}

/** A longer one would make the text of many numbers several times as long. */
const markOf = (scan: Scan): string => {
  scan.mark ||= unguessable();
  return scan.mark;
};

function mark(scan: Scan, from: number, as: string, end: number): void {
  scan.marked.push(scan.text.slice(scan.copied, from), as);
  scan.copied = end;
}

/** Marks the name of a member whose text begins here, when an engine would move it before one that is written earlier. */
function markName(scan: Scan, at: number): void {
  INDEX.lastIndex = at;
  const written = INDEX.exec(scan.text)?.[1];
  if (written === undefined) return;
  const name = JSON.parse(`"${written}"`) as string;
  if (!isIndex(name)) return;
  const last = scan.greatest.length - 1;
  scan.indexed = true;
  if (Number(name) >= (scan.greatest[last] ?? 0)) scan.greatest[last] = Number(name);
  else {
    if (++scan.moved > MOST_MOVED) throw new RangeError(`more than ${MOST_MOVED} names that are whole numbers stand out of order`);
    mark(scan, at, markOf(scan), at);
  }
}
/** A digit may be written as an escape. */
const isDigit = (code: number): boolean => (code >= ZERO && code <= NINE) || code === BACKSLASH;
const INDEX = /((?:\d|\\u003\d){1,10})"[ \n\r\t]*:/y;

function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code < ZERO || code > NINE) && code !== DOT && (code | LOWER) !== E && code !== PLUS && code !== MINUS) break;
  }
  return at;
}

/** Whether a double would write the number differently. Most numbers have so few digits that a look at them tells. */
const isChanged = (number: string): boolean => !SHORT.test(number) && String(Number(number)) !== number && JSON_NUMBER.test(number);
const SHORT = /^(?:0|-?(?:[1-9]\d{0,14}|0\.(?!0{6})\d{0,14}[1-9]|[1-9]\d{0,7}\.\d{0,6}[1-9]))$/;
/** RFC 8259 §6. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A number is no name of a member: the parser says so. */
function isName(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return text[at] === ':';
}

function* unmarkSteps(value: unknown, scan: Scan): Steps<unknown> {
  const { mark } = scan;
  const root = { value };
  const open: object[] = [root];
  let count = 0;
  for (let part = open.pop() as Record<string, unknown> | undefined; part; part = open.pop() as Record<string, unknown> | undefined)
    for (const name of Object.keys(part)) {
      if (++count % STRIDE === 0) yield;
      const member = part[name];
      if (typeof member === 'object' && member !== null) {
        open.push(scan.moved === 0 || Array.isArray(member) ? member : unmarkNames(scan, part, name));
        // Assigning to an own member called `__proto__` changes that member.
      } else if (typeof member === 'string' && member.startsWith(mark)) part[name] = new LosslessNumber(member.slice(mark.length));
    }
  return root.value;
}

/** Gives the members of a member their names back, in the order in which they stood. Gives the object that holds them. */
function unmarkNames(scan: Scan, parent: Record<string, unknown>, at: string): object {
  const { mark } = scan;
  const marked = parent[at] as Record<string, unknown>;
  const written = Object.keys(marked);
  if (!written.some((name) => name.startsWith(mark))) return marked;
  const names = written.map((name) => (name.startsWith(mark) ? name.slice(mark.length) : name));
  const object: Record<string, unknown> = {};
  for (const [i, name] of names.entries()) setMember(object, name, marked[written[i] as string]);
  parent[at] = inOrder(object, names);
  return object;
}

function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/**
 * What a column of type `Json` holds of a value: its text where it holds what the client or the database would change. The client reads every number as a
 * double and takes `__proto__` for no member; the database orders names by their length. `jsonOfColumn` reads it back. Only for columns whose value is an
 * object or a list, which a text is not.
 */
export const columnJson = <T>(value: T): T =>
  everyObject(value, (names) => isOrderOfEngine(names) && isOrderOfColumn(names)) ? value : (JSON.stringify(value) as T);

/** By the length in bytes, then by bytes. Names beyond ASCII are taken for moved: a text keeps them all the same. */
const isOrderOfColumn = (names: readonly string[]): boolean =>
  names.every((name, i) => ASCII.test(name) && (i === 0 || comesBefore(names[i - 1] as string, name)));
const comesBefore = (a: string, b: string): boolean => (a.length === b.length ? a < b : a.length < b.length);
const ASCII = /^[ -~]*$/;

/** The value of such a column. */
export const jsonOfColumn = (column: unknown): unknown => (typeof column === 'string' ? parseExact(column) : column);

/** The value with the nearest doubles, for what computes with numbers, such as a validator of JSON Schema. */
export const asDoubles = <T>(value: T): T => (hasExactNumber(value) ? (JSON.parse(JSON.stringify(value)) as T) : value);

/** A copy of its own, with the same digits: `structuredClone` would make an object of a number, and takes longer. */
export const copyJson = <T>(value: T): T => mapped(value, (exact) => exact) as T;

/** The value, or a copy with something else for each number with digits of its own. */
export const mapNumbers = (value: unknown, to: (exact: LosslessNumber) => unknown): unknown =>
  hasExactNumber(value) ? mapped(value, to) : value;

function mapped(value: unknown, to: (exact: LosslessNumber) => unknown): unknown {
  if (isExact(value)) return to(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapped(item, to));
  return objectOf(Object.entries(value).map(([name, member]) => [name, mapped(member, to)]));
}

/** Whether a number with digits of its own has the value that a double is written with, as 1.0 and 1 do. 9007199254740993 and its nearest double don't. */
export const isSameNumber = (exact: LosslessNumber, double: number): boolean => decimalOf(exact.value) === decimalOf(String(double));

/** One text for all spellings of a value: 7615917337495251231.0 and 7615917337495251231 have the same. */
export const valueText = (number: LosslessNumber | number): string => decimalOf(String(number));

/** The digits without zeros at either end, and the power of ten that they are multiplied by: one text for each value. */
function decimalOf(number: string): string {
  const parts = PARTS.exec(number);
  if (!parts) return number;
  const [, minus = '', whole = '', fraction = '', power = '0'] = parts;
  const written = whole + fraction;
  let [from, to] = [0, written.length];
  while (written[from] === '0') from++;
  while (to > from && written[to - 1] === '0') to--;
  return from === to ? '0' : `${minus}${written.slice(from, to)}e${BigInt(power) + BigInt(whole.length - to)}`;
}
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,400}))?$/;

/** Whether a value is or holds a number with digits of its own. */
export function hasExactNumber(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const part = open.pop();
    if (isExact(part)) return true;
    if (typeof part !== 'object' || part === null) continue;
    for (const item of Array.isArray(part) ? part : Object.values(part)) if (typeof item === 'object' && item !== null) open.push(item);
  }
  return false;
}

const [QUOTE, PLUS, MINUS, DOT, ZERO, NINE, BACKSLASH, E, LOWER] = [0x22, 0x2b, 0x2d, 0x2e, 0x30, 0x39, 0x5c, 0x65, 0x20] as const;
const [COLON, OPEN, CLOSE] = [0x3a, 0x7b, 0x7d] as const;
