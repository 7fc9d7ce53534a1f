import fc from 'fast-check';

/** What the generators read of a JSON Schema 2020-12. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  examples?: unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema;
  propertyNames?: Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
};
type Resolve = (schema: Schema) => Schema;

const FORMATS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  uuid: fc.uuid(),
  'date-time': fc.date({ min: new Date('2030-01-01'), max: new Date('2030-12-31'), noInvalidDate: true }).map((at) => at.toISOString()),
  email: fc.integer({ min: 1, max: 1e9 }).map((n) => `person-${n}@example.com`),
};

/** Values of a schema, most of them small. Rules over several members are for the caller to filter by. */
export function valuesOf(given: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  const schema = resolve(given);
  const { type, format, properties, pattern, minLength = 0, maxLength = 40 } = schema;
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const alternatives = schema.anyOf ?? (properties ? undefined : schema.oneOf);
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => valuesOf({ ...schema, type: one }, resolve)));
  if (alternatives) return fc.oneof(...alternatives.map((one) => valuesOf(one, resolve)));
  if (type === 'null') return fc.constant(null);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return fc.integer({ min: schema.minimum ?? -1_000, max: schema.maximum ?? 1_000_000 });
  if (type === 'number') return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
  if (type === 'string') {
    if (format && FORMATS[format]) return FORMATS[format];
    if (schema.examples) return fc.constantFrom(...schema.examples);
    const longest = Math.min(maxLength, 40);
    if (pattern) return matching(pattern, minLength, longest);
    return fc.string({ minLength, maxLength: Math.max(minLength, longest) });
  }
  if (type === 'array')
    return fc.array(valuesOf(schema.items ?? {}, resolve), {
      minLength: schema.minItems ?? 0,
      maxLength: Math.min(Math.max(schema.minItems ?? 0, 2), schema.maxItems ?? 2),
    });
  if (properties)
    return fc.record(Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valuesOf(one, resolve)])), {
      requiredKeys: schema.required ?? [],
    });
  if (schema.additionalProperties || type === 'object')
    return fc.dictionary(
      schema.propertyNames
        ? (valuesOf({ type: 'string', maxLength: 20, ...schema.propertyNames }, resolve) as fc.Arbitrary<string>)
        : fc.string(),
      schema.additionalProperties ? valuesOf(schema.additionalProperties, resolve) : fc.jsonValue({ maxDepth: 2 }),
      { maxKeys: 3 },
    );
  return fc.jsonValue({ maxDepth: 2 });
}

const TRIES = 2_000;

/** Texts of a pattern and length. A pattern that has none would be filtered forever: it is refused by name. */
function matching(pattern: string, shortest: number, longest: number): fc.Arbitrary<string> {
  let misses = 0;
  return fc.stringMatching(new RegExp(pattern)).filter((text) => {
    const fits = text.length >= shortest && text.length <= longest;
    misses = fits ? 0 : misses + 1;
    if (misses > TRIES)
      throw new Error(`${TRIES} texts of ${pattern} in a row didn't have ${shortest} to ${longest} characters: give its field examples.`);
    return fits;
  });
}

/** A valid body with one member gone or of a value that no schema of ours takes there. What still fits the schema is for the caller to filter out. */
export const mutationsOf = (
  valid: fc.Arbitrary<Record<string, unknown>>,
  names: readonly string[],
): fc.Arbitrary<Record<string, unknown>> =>
  fc.tuple(valid, fc.constantFrom(...names), fc.constantFrom(...WRONG)).map(([body, name, wrong]) => {
    const { [name]: _, ...rest } = body;
    return wrong === GONE ? rest : { ...rest, [name]: wrong };
  });
const GONE = Symbol('gone');
const WRONG = [GONE, null, 17.5, -1, 1e12, true, 'no-such-value', '', '\u0007', 'x'.repeat(70_000), {}, [], [17.5], { a: { b: 1 } }];
