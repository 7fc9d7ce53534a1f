import { setImmediate } from 'node:timers/promises';
import type { Format, Prepared } from './check.ts';
import { type SchemaPattern, schemaPattern } from './patterns.ts';
import { assertSchemaShape, InvalidSchema, type Shape } from './shape.ts';

/**
 * A schema that can be run. Its patterns are compiled one a turn of the loop. Without `strict` a pattern that can't be used is not applied.
 * @throws InvalidSchema
 */
export async function preparedSchema(
  schema: object,
  { strict, formats, depth }: { strict: boolean; formats: ReadonlyMap<string, Format>; depth?: number },
): Promise<Prepared> {
  const { root, targets, patterns } = assertSchemaShape(schema, depth);
  return { root, targets, patterns: await compiled(patterns, strict), formats, scalars: new WeakMap() };
}

async function compiled(patterns: Shape['patterns'], strict: boolean): Promise<ReadonlyMap<string, SchemaPattern>> {
  const found = new Map<string, SchemaPattern>();
  for (const { pattern, path } of patterns) {
    if (found.has(pattern)) continue;
    if (found.size > 0) await setImmediate();
    const one = schemaPattern(pattern);
    if (typeof one !== 'string') found.set(pattern, one);
    else if (strict) throw new InvalidSchema(`the pattern at ${path} ${one}`);
  }
  return found;
}
