import { inspect } from 'node:util';

/** What every textual form of a {@link Sensitive} shows. */
const sensitiveMark = '[sensitive]';

/**
 * Carries plaintext (a string or bytes) through code that may log, serialise or interpolate it.
 * Every way to turn the wrapper into text prints `[sensitive]`; only `reveal()` gives the value.
 */
export class Sensitive<T extends string | Uint8Array = string | Uint8Array> {
  #value: T | undefined;

  constructor(value: T) {
    this.#value = value;
  }

  /** The plaintext. Throws after `wipe()`. */
  reveal(): T {
    if (this.#value === undefined) throw new Error('the sensitive value was wiped');
    return this.#value;
  }

  /** Drops the value; bytes are overwritten with zeros first (a JavaScript string can only be dropped). */
  wipe(): void {
    if (typeof this.#value === 'object') this.#value.fill(0);
    this.#value = undefined;
  }

  toString(): string {
    return sensitiveMark;
  }

  toJSON(): string {
    return sensitiveMark;
  }

  [Symbol.toPrimitive](): string {
    return sensitiveMark;
  }

  [inspect.custom](): string {
    return sensitiveMark;
  }
}
