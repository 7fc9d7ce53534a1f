import { isEscaped, unguessable } from './json-strings.ts';
import { isExact, isNumber, LosslessNumber } from './lossless-number.ts';
import { atOnce, STRIDE, type Steps } from './slices.ts';

// JSON of customers, which is stored, signed and sent as its author wrote it: 1299.10 keeps its last digit and 2^60 its value, where a double would change
// both. A value keeps numbers and names; only a text (`json-text.ts`) also keeps the order of names such as "2" and repeated names.

export { isExact, isNumber, LosslessNumber };

/**
 * A JSON text, whose shape its reader has bounded, as values; a number that a double would write differently is a `LosslessNumber`, which `JSON.stringify`
 * writes as it was. Member names are data, `__proto__` too. Of a repeated name the last value counts, as with `JSON.parse`. @throws SyntaxError
 */
export const parseExact = (text: string): unknown => atOnce(parseExactSteps(text));

/**
 * The same in steps, for a text of megabytes. One scan finds the numbers that a double would change; a text without any is parsed as it is. A reviver would
 * do the same in ten times the time. Such numbers take ten times as long as others to read and to write, which is not done in steps: hence `most`.
 * @throws SyntaxError, RangeError when there are more than `most` of them
 */
export function* parseExactSteps(text: string, most = Number.POSITIVE_INFINITY): Steps<unknown> {
  const scan: Scan = { text, mark: '', at: 0, copied: 0, string: -1, marked: [], left: most };
  for (scanTo(scan, STRIDE); scan.at < text.length; scanTo(scan, scan.at + STRIDE)) yield;
  if (scan.copied === 0) return JSON.parse(text);
  return yield* unmarkSteps(JSON.parse(scan.marked.join('') + text.slice(scan.copied)), scan.mark);
}

/** `string` is where the string began that the scan is in, or -1; the text before `copied` is in `marked`, each of the numbers as a string that begins with the mark. */
type Scan = { readonly text: string; left: number; mark: string; at: number; copied: number; string: number; readonly marked: string[] };

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
    if (code === QUOTE) scan.string = at + 1;
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      const number = text.slice(at, end);
      if (isChanged(number) && !isName(text, end)) {
        if (--scan.left < 0) throw new RangeError('more numbers with digits of their own than the reader takes');
        // A longer one would make the text of many numbers several times as long.
        scan.mark ||= unguessable();
        scan.marked.push(text.slice(scan.copied, at), `"${scan.mark}${number}"`);
        scan.copied = end;
      }
      at = end - 1;
    }
  }
  scan.at = at;
}

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

function* unmarkSteps(value: unknown, mark: string): Steps<unknown> {
  const root = { value };
  const open: object[] = [root];
  let count = 0;
  for (let part = open.pop() as Record<string, unknown> | undefined; part; part = open.pop() as Record<string, unknown> | undefined)
    for (const name of Object.keys(part)) {
      if (++count % STRIDE === 0) yield;
      const member = part[name];
      if (typeof member === 'object' && member !== null) open.push(member);
      // Assigning to an own member called `__proto__` changes that member.
      else if (typeof member === 'string' && member.startsWith(mark)) part[name] = new LosslessNumber(member.slice(mark.length));
    }
  return root.value;
}

/**
 * What a column of type `Json` holds of a value: its text where it holds what the database client would change, since that reads every number as a double and
 * takes `__proto__` for no member. `jsonOfColumn` reads it back. Only for columns whose value is an object or a list, which a text is not.
 */
export const columnJson = <T>(value: T): T => (isPlainJson(value) ? value : (JSON.stringify(value) as T));

/** Whether a value has neither a number with digits of its own nor a member `__proto__`, which others that carry JSON change, lose or refuse. */
export function isPlainJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return !isExact(value) && !Object.hasOwn(value, '__proto__') && Object.values(value).every(isPlainJson);
}

/** The value of such a column. */
export const jsonOfColumn = (column: unknown): unknown => (typeof column === 'string' ? parseExact(column) : column);

/** The value with the nearest doubles, for what computes with numbers, such as a validator of JSON Schema. */
export const asDoubles = <T>(value: T): T => (hasExactNumber(value) ? (JSON.parse(JSON.stringify(value)) as T) : value);

/** A copy of its own, with the same digits: `structuredClone` would make an object of a number, and takes longer. */
export const copyJson = <T>(value: T): T => copied(value) as T;

function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isExact(value)) return value;
  if (Array.isArray(value)) return value.map(copied);
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value))
    if (name !== '__proto__') copy[name] = copied(member);
    else Object.defineProperty(copy, name, { value: copied(member), writable: true, enumerable: true, configurable: true });
  return copy;
}

/** Whether a number with digits of its own has the value that a double is written with, as 1.0 and 1 do. 9007199254740993 and its nearest double don't. */
export const isSameNumber = (exact: LosslessNumber, double: number): boolean => decimalOf(exact.value) === decimalOf(String(double));

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

const [QUOTE, PLUS, MINUS, DOT, ZERO, NINE, E, LOWER] = [0x22, 0x2b, 0x2d, 0x2e, 0x30, 0x39, 0x65, 0x20] as const;
