// Apart from its reader (lossless-json.ts), which pages load only when there is such a number.

/** A number that a double would write differently, as the text it was. `JSON.stringify` writes that text. */
export class LosslessNumber {
  readonly value: string;
  constructor(value: string) {
    this.value = value;
  }
  toString(): string {
    return this.value;
  }
  /** The nearest double. */
  valueOf(): number {
    return Number(this.value);
  }
  toJSON(): unknown {
    return rawJson(this.value);
  }
}

export const isExact = (value: unknown): value is LosslessNumber => value instanceof LosslessNumber;
export const isNumber = (value: unknown): value is number | LosslessNumber => typeof value === 'number' || isExact(value);

/** ES2025; the compiler's library doesn't know it yet. Browsers without it write the nearest double. */
const { rawJSON: rawJson = Number } = JSON as unknown as { rawJSON?: (text: string) => unknown };
