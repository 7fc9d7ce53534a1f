import type { Compiled, Place } from './selectors.ts';

/** What a leaf of a JSON document is. `bytes` is an object whose only member is `$b64` with standard base64: the way to name raw bytes in JSON. */
export type LeafKind = 'string' | 'number' | 'boolean' | 'null' | 'bytes';

/** One picked leaf, by its place in the text. */
export type Leaf = {
  kind: LeafKind;
  from: number;
  to: number;
  /**
   * JSON Pointer (RFC 6901). Worked out when it is read: names on the way may be as long as the document, and the leaves below one as many as it has
   * characters.
   */
  readonly pointer: string;
};

/**
 * Calls `visit` for each picked leaf of a JSON text, in order. The walk is over the text itself, so digits, member order, repeated names and names such as
 * `__proto__` are what the sender wrote. Empty objects and arrays are no leaves.
 *
 * `text` must have passed JSON.parse: a walk over anything else finds nonsense. Nesting is the caller's to bound.
 */
export function eachPicked({ root }: Compiled, text: string, visit: (leaf: Leaf) => void): void {
  let at = 0;

  const blank = () => {
    for (let code = text.charCodeAt(at); code === 32 || code === 10 || code === 13 || code === 9; code = text.charCodeAt(at)) at++;
  };
  /** The end of the string that begins here. */
  const pastString = () => {
    let end = at + 1;
    for (;;) {
      const code = text.charCodeAt(end);
      if (code === QUOTE) return end + 1;
      end += code === BACKSLASH ? 2 : 1;
    }
  };
  const pastWord = () => {
    let end = at;
    while (end < text.length && !ENDS_WORD.has(text.charCodeAt(end))) end++;
    return end;
  };

  /** The end of the object that begins here when it is `{"$b64": "…"}`, else null. Moves `at`. */
  const pastBytes = (): number | null => {
    at++;
    blank();
    if (!text.startsWith('"$b64"', at)) return null;
    at += 6;
    blank();
    at++; // the colon
    blank();
    if (text.charCodeAt(at) !== QUOTE) return null;
    const from = at;
    at = pastString();
    const to = at;
    blank();
    return text.charCodeAt(at) === OBJECT_END && isBase64(stringIn(text, from, to)) ? at + 1 : null;
  };

  function value(place: Place, path: Path): void {
    blank();
    const first = text.charCodeAt(at);
    if (first === OBJECT) object(place, path);
    else if (first === ARRAY) array(place, path);
    else scalar(KINDS.get(first) ?? 'number', place, path);
  }

  function scalar(kind: LeafKind, { picked }: Place, path: Path): void {
    const from = at;
    at = kind === 'string' ? pastString() : pastWord();
    if (picked) visit(leafAt(kind, from, at, path));
  }

  function object(place: Place, path: Path): void {
    const from = at;
    const end = pastBytes();
    if (end !== null) {
      at = end;
      const inner = place.member('$b64');
      if (!inner.closed && (place.picked || inner.picked)) visit(leafAt('bytes', from, end, path));
      return;
    }
    at = from + 1;
    for (blank(); text.charCodeAt(at) !== OBJECT_END; blank()) {
      if (text.charCodeAt(at) === COMMA) at++;
      blank();
      const begin = at;
      at = pastString();
      const name = stringIn(text, begin, at);
      blank();
      at++; // the colon
      value(place.closed ? place : place.member(name), { up: path, by: name });
    }
    at++;
  }

  function array(place: Place, path: Path): void {
    at++;
    let index = 0;
    for (blank(); text.charCodeAt(at) !== ARRAY_END; blank()) {
      if (text.charCodeAt(at) === COMMA) at++;
      value(place.closed ? place : place.element(index), { up: path, by: index });
      index++;
    }
    at++;
  }

  value(root, null);
}

/** The text with each replacement in the place of its leaf; everything else stays as it was. `replaced` is in the order of the leaves. */
export function withReplaced(text: string, replaced: readonly { leaf: Pick<Leaf, 'from' | 'to'>; by: string }[]): string {
  let kept = 0;
  let out = '';
  for (const { leaf, by } of replaced) {
    out += text.slice(kept, leaf.from) + by;
    kept = leaf.to;
  }
  return out + text.slice(kept);
}

/** Whether a JSON value, which is text that has passed JSON.parse, is nested deeper than `levels`. */
export function isDeeperThan(text: string, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      for (at++; text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++;
    } else if (code === OBJECT || code === ARRAY) {
      if (++depth > levels) return true;
    } else if (code === OBJECT_END || code === ARRAY_END) depth--;
  }
  return false;
}

type Path = { up: Path; by: string | number } | null;

const leafAt = (kind: LeafKind, from: number, to: number, path: Path): Leaf => ({
  kind,
  from,
  to,
  get pointer() {
    return pointerOf(path);
  },
});

function pointerOf(path: Path): string {
  let pointer = '';
  for (let part = path; part; part = part.up) pointer = `/${String(part.by).replaceAll('~', '~0').replaceAll('/', '~1')}${pointer}`;
  return pointer;
}

const stringIn = (text: string, from: number, to: number): string => {
  const plain = text.slice(from + 1, to - 1);
  return plain.includes('\\') ? (JSON.parse(text.slice(from, to)) as string) : plain;
};

/** Standard base64 in its one canonical form, so that what was sealed opens to the same text. */
const isBase64 = (text: string) => Buffer.from(text, 'base64').toString('base64') === text;

const [QUOTE, BACKSLASH, COMMA, OBJECT, OBJECT_END, ARRAY, ARRAY_END] = [34, 92, 44, 123, 125, 91, 93] as const;
const KINDS = new Map<number, LeafKind>([
  [34, 'string'],
  [116, 'boolean'],
  [102, 'boolean'],
  [110, 'null'],
]);
/** Comma, closing brackets and white space. */
const ENDS_WORD = new Set([44, 125, 93, 32, 9, 10, 13]);
