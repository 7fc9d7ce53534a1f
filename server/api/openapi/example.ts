import { EXAMPLE_ID, EXAMPLE_TIME, type Examples, sharedExamples } from '#server/kernel/descriptions.ts';
import type { Json } from './json.ts';

/** `parent.field` wins over `field`, and a family's own example over the shared one. */
const named = (examples: Examples, name: string, parent: string): unknown =>
  [`${parent}.${name}`, name].flatMap((key) => (key in examples ? [examples[key]] : key in sharedExamples ? [sharedExamples[key]] : []))[0];

/**
 * An example of a schema, built from the examples of its fields, so that a family names only what its type doesn't say. `optional` members of
 * requests are left out unless the family has an example of them.
 */
export function exampleOf(
  given: Json,
  examples: Examples,
  shared: Record<string, Json>,
  side: 'request' | 'response',
  parent = '',
): unknown {
  const name = typeof given.$ref === 'string' ? (given.$ref.split('/').at(-1) as string) : undefined;
  if (name !== undefined) return exampleOf(shared[name] as Json, examples, shared, side, name);
  if (Array.isArray(given.examples)) return given.examples[0];
  if ('const' in given) return given.const;
  if (Array.isArray(given.enum)) return given.enum[0];
  const [first] = (given.properties ? [] : (given.anyOf ?? given.oneOf ?? [])) as Json[];
  if (first) return exampleOf(first, examples, shared, side, parent);
  if (given.properties) {
    const required = (given.required ?? []) as string[];
    const members = Object.entries(given.properties as Record<string, Json>).flatMap(([field, schema]) => {
      const own =
        named(examples, side === 'request' ? `request.${field}` : field, parent) ??
        (required.includes(field) ? named(examples, field, parent) : undefined);
      if (own !== undefined) return [[field, own]];
      return required.includes(field) ? [[field, exampleOf(schema, examples, shared, side, field)]] : [];
    });
    return Object.fromEntries(members);
  }
  const type = Array.isArray(given.type) ? given.type[0] : given.type;
  switch (type) {
    case 'array':
      return [exampleOf((given.items ?? {}) as Json, examples, shared, side, parent)];
    case 'string':
      return given.format === 'uuid' ? EXAMPLE_ID : given.format === 'date-time' ? EXAMPLE_TIME : 'text';
    case 'integer':
    case 'number':
      return given.minimum ?? 0;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return {};
  }
}
