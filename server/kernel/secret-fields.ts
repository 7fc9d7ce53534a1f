import { z } from 'zod';

/** Names of the fields that an input marks as secret, wherever in it they stand. */
export const secretFields = (input: z.ZodType): ReadonlySet<string> => markedFields(input, 'input', 'x-secret');

/** Whether an answer of this shape carries a one-time secret: its stored replay is sealed under the key text too (interface rule 01 §7.9). */
export function isShownOnce(output: z.ZodType): boolean {
  let known = shownOnce.get(output);
  if (known === undefined) {
    known = markedFields(output, 'output', 'x-shown-once').size > 0;
    shownOnce.set(output, known);
  }
  return known;
}
const shownOnce = new WeakMap<z.ZodType, boolean>();

function markedFields(schema: z.ZodType, io: 'input' | 'output', mark: string): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, child] of Object.entries((node as { properties?: Record<string, unknown> }).properties ?? {}))
      if (typeof child === 'object' && child !== null && mark in child) found.add(name);
    for (const child of Object.values(node)) walk(child);
  };
  walk(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));
  return found;
}
