// JSON that passes through the command line: its numbers keep the digits that they were written with.

/** ES2025; the compiler's library doesn't know them yet. */
const { rawJSON, isRawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown; isRawJSON: (value: unknown) => boolean };

/** As `JSON.parse`, but a number that a double would write differently is an object that `JSON.stringify` writes as it was. @throws SyntaxError */
export const parseExact = (text: string): unknown => JSON.parse(text, withDigits as (name: string, value: unknown) => unknown);

const withDigits = (_: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === 'number' && source !== undefined && source !== String(value) ? rawJSON(source) : value;

/** Whether a value is such a number. */
export const isExactNumber = (value: unknown): boolean => isRawJSON(value);
