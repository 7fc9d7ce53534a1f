import { z } from 'zod';

/** Names of the fields that an input marks as secret, wherever in it they stand. */
export function secretFields(input: z.ZodType): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, child] of Object.entries((node as { properties?: Record<string, unknown> }).properties ?? {}))
      if (typeof child === 'object' && child !== null && 'x-secret' in child) found.add(name);
    for (const child of Object.values(node)) walk(child);
  };
  walk(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }));
  return found;
}
