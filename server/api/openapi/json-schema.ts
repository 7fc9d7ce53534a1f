import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

export type Json = Record<string, unknown>;

/**
 * JSON Schema 2020-12 of one side of a zod schema. Schemas with an id become shared components; outputs stay open for additive fields.
 */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output', shared: Record<string, Json>): Json {
  const {
    $schema: _,
    $defs,
    ...json
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties;
      delete jsonSchema.id;
      // Fields that are there to be refused (material of another secret type) are nothing a caller can send.
      for (const [name, field] of Object.entries(jsonSchema.properties ?? {}))
        if (typeof field === 'object' && isDeepStrictEqual(field.not, {})) delete jsonSchema.properties?.[name];
    },
  }) as Json;
  Object.assign(shared, pointAtComponents($defs ?? {}));
  return pointAtComponents(json) as Json;
}

const pointAtComponents = (json: unknown) => JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/'));
