import { parseExact } from '#server/kernel/lossless-json.ts';
/** Notes of a client as a form holds them: the JSON of an object, or nothing. */
export const notesText = (notes: Record<string, unknown> | undefined): string =>
  notes === undefined || Object.keys(notes).length === 0 ? '' : JSON.stringify(notes, null, 2);

/** The notes that a text stands for; undefined when it is not the JSON of an object. */
export function notesOf(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value = parseExact(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** A note as one line for people. */
export const noteInWords = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
