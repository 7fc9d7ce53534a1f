// Numbers keep the digits that were given. One that a double would write differently is an object of a class (`LosslessNumber` where a body was read,
// `ExactNumber` here) whose text is its digits; every other number is a plain one. Values of JSON are never objects of a class, so that is how they are told apart.

/** A number whose digits a double would change, such as 7615917337495251231, 1.10 or 1e400. Take its digits by `String`. */
export class ExactNumber {
  readonly #digits: string;
  /** @param digits a number as JSON writes it */
  constructor(digits: string) {
    this.#digits = digits;
  }
  toString(): string {
    return this.#digits;
  }
  toJSON(): unknown {
    return rawJson(this.#digits);
  }
}

/** ES2025; the compiler's library doesn't know it yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

export function isExact(value: unknown): value is ExactNumber {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== Object.prototype && prototype !== null;
}

export const isNumber = (value: unknown): value is number | ExactNumber => typeof value === 'number' || isExact(value);

/** A number as JSON writes it. */
export const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The JSON of a value, every number with its digits. Writing those takes a function for each member, so only where there are some. */
export const jsonTextOf = (value: unknown, space?: number): string =>
  JSON.stringify(
    value,
    holdsExact(value) ? (_, member: unknown) => (isExact(member) ? rawJson(String(member)) : member) : undefined,
    space,
  );

/** Whether a value is or holds a number that is an object. */
export function holdsExact(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const part = open.pop();
    if (isExact(part)) return true;
    if (typeof part !== 'object' || part === null) continue;
    for (const item of Array.isArray(part) ? part : Object.values(part)) if (typeof item === 'object' && item !== null) open.push(item);
  }
  return false;
}
