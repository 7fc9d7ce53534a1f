// What is known of a captured request without looking at its values (interface rule 10 §15.3). Without packages.

export type Structure = string | Structure[] | { [name: string]: Structure };

const MOST_KEYS = 500;
const MOST_ELEMENTS = 20;
const DEEPEST = 16;

/** The shape of a JSON value: type names in place of values, a list as the merged shape of its first elements. At most 500 keys. */
export function structureOf(value: unknown): Structure {
  let keys = 0;
  const shape = (from: unknown, depth: number): Structure => {
    if (from === null) return 'null';
    if (typeof from !== 'object') return typeof from;
    if (depth === DEEPEST) return Array.isArray(from) ? 'array' : 'object';
    if (Array.isArray(from)) {
      const shapes = from.slice(0, MOST_ELEMENTS).map((element) => shape(element, depth + 1));
      return shapes.length === 0 ? [] : [shapes.reduce(merged)];
    }
    const out: Record<string, Structure> = {};
    for (const [name, member] of Object.entries(from)) {
      if (keys >= MOST_KEYS) break;
      keys++;
      // Defined, not assigned: a member may be called __proto__.
      Object.defineProperty(out, name, { value: shape(member, depth + 1), enumerable: true, configurable: true, writable: true });
    }
    return out;
  };
  return shape(value, 0);
}

/** Of two elements of a list: objects have the members of both, and what differs in type is told by the first that isn't null. */
function merged(a: Structure, b: Structure): Structure {
  if (a === 'null') return b;
  if (Array.isArray(a) && Array.isArray(b)) {
    const [first, second] = [a[0], b[0]];
    return first === undefined ? b : second === undefined ? a : [merged(first, second)];
  }
  if (typeof a !== 'object' || typeof b !== 'object' || Array.isArray(a) || Array.isArray(b)) return a;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries(
    Array.from(names, (name): [string, Structure] => {
      const [mine, other] = [Object.hasOwn(a, name) ? a[name] : undefined, Object.hasOwn(b, name) ? b[name] : undefined];
      return [name, mine === undefined ? (other as Structure) : other === undefined ? mine : merged(mine, other)];
    }),
  );
}

/** Fields of a form as an object; one that comes more than once is a list. */
export function formFields(text: string): Record<string, string | string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) fields.set(name, [...(fields.get(name) ?? []), value]);
  return Object.fromEntries(Array.from(fields, ([name, values]) => [name, values.length === 1 ? (values[0] as string) : values]));
}
