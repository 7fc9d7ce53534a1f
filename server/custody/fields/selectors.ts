/**
 * Selectors of JSON members: a subset of RFC 9535 (interface rule 41 §7), shared by encrypt, decrypt and the field actions of routes. A list of them is
 * compiled once into an automaton that a walker moves through as it goes down a document: the cost of a node does not depend on how many selectors there
 * are or how they overlap. Names are compared as text and kept in maps, so `__proto__` is a name like any other.
 */
export const MAX_SELECTORS = 50;
export const MAX_SELECTOR_LENGTH = 256;

/** What the selectors say about one node of a document, and where they lead from it. */
export type Place = {
  /** The node is picked: by a selector, or because a node above it is. */
  readonly picked: boolean;
  /** Nothing at or below the node is picked: a walker may skip it. */
  readonly closed: boolean;
  member(name: string): Place;
  element(index: number): Place;
};

/** Where a walk begins: the root of a document. */
export type Compiled = { readonly root: Place };

/** A selector that isn't one. The message names it. */
export class SelectorRefused extends Error {
  override readonly name = 'SelectorRefused';
  readonly selector: string;
  constructor(selector: string, problem: string) {
    super(`${selector === '' ? 'An empty text' : quoted(selector)} is not a selector: ${problem}`);
    this.selector = selector;
  }
}

/** `exclude` wins over `selectors`; without selectors everything is picked that is not excluded. @throws SelectorRefused for the first faulty one */
export function compileSelectors(selectors: readonly string[] = ['$'], exclude: readonly string[] = []): Compiled {
  return { root: automaton(selectors.map(stepsOf), exclude.map(stepsOf)) };
}

/** `of` is the name or index that the step takes; absent for every child. */
type Step = { to: 'member'; of: string } | { to: 'element'; of: number } | { to: 'every' } | { to: 'descendant'; of: string };

/** Parses one selector. @throws SelectorRefused */
export function stepsOf(selector: string): Step[] {
  const refuse = (problem: string) => new SelectorRefused(selector, problem);
  if (selector.length > MAX_SELECTOR_LENGTH) throw refuse(`it may have at most ${MAX_SELECTOR_LENGTH} characters.`);
  if (!selector.startsWith('$')) throw refuse('it must begin with $, such as $.card.number.');
  const steps: Step[] = [];
  for (let at = 1; at < selector.length; ) {
    const found = STEP.exec(selector.slice(at));
    if (!found) throw refuse(`the part from character ${at + 1} is not .name, ['name'], [0], .*, [*] or ..name.`);
    const [text, dots, name, index, single, double] = found;
    const quotedName = single ?? double;
    if (name !== undefined) steps.push({ to: dots === '..' ? 'descendant' : 'member', of: name });
    else if (index !== undefined) steps.push({ to: 'element', of: Number(index) });
    else if (quotedName !== undefined) steps.push({ to: 'member', of: quotedName.replace(/\\(.)/g, '$1') });
    else steps.push({ to: 'every' });
    at += text.length;
  }
  if (steps.filter(({ to }) => to === 'descendant').length > 1) throw refuse('it may have only one ".." step.');
  return steps;
}

/** Each alternative begins differently, and no repetition overlaps with what follows it: linear. */
const STEP =
  /^(?:(\.{1,2})([A-Za-z_][A-Za-z0-9_-]*)|\.\*|\[\*\]|\[([0-9]{1,9})\]|\['((?:[^'\\\u0000-\u001f]|\\['\\])+)'\]|\["((?:[^"\\\u0000-\u001f]|\\["\\])+)"\])/;

/** How many places remember where they lead. Documents with ever new shapes must not fill the memory: further places are worked out again. */
const REMEMBERED = 4_096;

/**
 * One bit for each step that a walk may stand before, and one behind the last step of each selector. All selectors advance at once by bit arithmetic, so a
 * node costs at most one pass over these bits whatever the document looks like.
 */
type Bits = Int32Array;

function automaton(selectors: readonly (readonly Step[])[], exclude: readonly (readonly Step[])[]): Place {
  const all = [...selectors, ...exclude];
  const size = (all.reduce((sum, steps) => sum + steps.length + 1, 0) + 31) >>> 5;
  const bits = (): Bits => new Int32Array(size);
  /** Behind the last step of a selector, and all that belong to `exclude`. */
  const [reached, barred, start, every, lasting] = [bits(), bits(), bits(), bits(), bits()];
  const takers = new Map<string | number, number[]>();
  let bit = 0;
  all.forEach((steps, nth) => {
    set(start, bit);
    for (const step of steps) {
      if (step.to === 'every') set(every, bit);
      else takers.set(step.of, [...(takers.get(step.of) ?? []), bit]);
      if (step.to === 'descendant') set(lasting, bit);
      if (nth >= selectors.length) set(barred, bit);
      bit += 1;
    }
    set(reached, bit);
    if (nth >= selectors.length) set(barred, bit);
    bit += 1;
  });
  const excluded = both(reached, barred);
  const taken = bits();
  for (let i = 0; i < size; i++) taken[i] = word(reached, i) & ~word(barred, i);
  /** The steps that take a name: as bits where these are fewer words than there are such steps. */
  const ways = new Map([...takers].map(([of, list]) => [of, list.length > size ? list.reduce(withBit, bits()) : list] as const));

  function advanced(from: Bits, child: string | number): Bits {
    const next = bits();
    const way = ways.get(child);
    const dense = way instanceof Int32Array ? way : null;
    let carry = 0;
    for (let i = 0; i < size; i++) {
      const moving = word(from, i) & (word(every, i) | (dense ? word(dense, i) : 0));
      next[i] = (moving << 1) | carry | (word(from, i) & word(lasting, i));
      carry = moving >>> 31;
    }
    if (way && !dense) for (const at of way as number[]) if (has(from, at)) set(next, at + 1);
    return next;
  }

  let remembered = 0;
  function place(inside: boolean, at: Bits): Place {
    const picked = inside || meet(at, taken);
    const shut = both(at, barred);
    // Below a picked node only what is excluded matters.
    const ahead = picked ? shut : at;
    if (meet(at, excluded) || (!picked && !differ(at, shut))) return CLOSED;
    if (picked && !some(shut)) return OPEN;
    const known = new Map<string | number, Place>();
    const next = (child: string | number): Place => {
      // A child that no selector names is like any other such child; no selector can name the empty text or a negative index.
      const key = ways.has(child) ? child : typeof child === 'string' ? '' : -1;
      const before = known.get(key);
      if (before) return before;
      const after = place(picked, advanced(ahead, child));
      if (remembered < REMEMBERED) {
        remembered += 1;
        known.set(key, after);
      }
      return after;
    };
    return { picked, closed: false, member: next, element: next };
  }

  return place(false, start);
}

const word = (bits: Bits, i: number): number => bits[i] as number;
const set = (bits: Bits, at: number): void => {
  bits[at >>> 5] = word(bits, at >>> 5) | (1 << (at & 31));
};
const withBit = (bits: Bits, at: number): Bits => {
  set(bits, at);
  return bits;
};
const has = (bits: Bits, at: number): boolean => (word(bits, at >>> 5) & (1 << (at & 31))) !== 0;
const some = (bits: Bits): boolean => bits.some((one) => one !== 0);
const both = (a: Bits, b: Bits): Bits => a.map((one, i) => one & word(b, i));
const meet = (a: Bits, b: Bits): boolean => a.some((one, i) => (one & word(b, i)) !== 0);
const differ = (a: Bits, b: Bits): boolean => a.some((one, i) => one !== word(b, i));

const CLOSED: Place = { picked: false, closed: true, member: () => CLOSED, element: () => CLOSED };
const OPEN: Place = { picked: true, closed: false, member: () => OPEN, element: () => OPEN };

const quoted = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
