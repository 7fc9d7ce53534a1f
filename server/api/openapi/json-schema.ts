import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Fields } from '#server/kernel/descriptions.ts';
import { explain } from './descriptions.ts';
import type { Json } from './json.ts';

/**
 * JSON Schema 2020-12 of one side of a zod schema, its fields explained. Schemas with an id become shared components; outputs stay open for
 * additive fields.
 */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output', fields: Fields, shared: Record<string, Json>): Json {
  const {
    $schema: _,
    $defs,
    ...json
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      // Objects stay open for additive fields; the values of a map are described.
      if (typeof jsonSchema.additionalProperties !== 'object') delete jsonSchema.additionalProperties;
      delete jsonSchema.id;
      // A number or a flag in a query may be spelt as text: what it is says enough.
      if (jsonSchema.type !== undefined) delete jsonSchema.anyOf;
      // Fields that are there to be refused (material of another secret type) are nothing a caller can send.
      for (const [name, field] of Object.entries(jsonSchema.properties ?? {}))
        if (typeof field === 'object' && isDeepStrictEqual(field.not, {})) delete jsonSchema.properties?.[name];
      // What every integer is within says nothing.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // The format says it shorter.
      if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  }) as Json;
  for (const [name, component] of Object.entries(pointAtComponents($defs ?? {}) as Record<string, Json>)) {
    if (name.startsWith(ANYTHING)) continue;
    explain(component, fields, name);
    shared[name] = component;
  }
  const own = pointAtComponents(json) as Json;
  explain(own, fields);
  return own;
}

/** What zod calls the component it makes of `z.json()`, with a number behind that begins anew in every schema. */
const ANYTHING = '__schema';

const pointAtComponents = (json: unknown) =>
  JSON.parse(
    JSON.stringify(json)
      .replaceAll(/"\$ref":"#\/\$defs\/__schema\d+"/g, '"description":"Any JSON value."')
      .replaceAll('"#/$defs/', '"#/components/schemas/'),
  );
