import { FORMATS } from '#server/ai/schema/formats.ts';
import { preparedSchema } from '#server/ai/schema/prepared.ts';
import { InvalidSchema } from '#server/ai/schema/shape.ts';
import { invalid } from '#server/kernel/errors.ts';
import { jsonOfColumn } from '#server/kernel/lossless-json.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
/** Levels of its JSON (interface rule 50 §5.1). */
const MOST_DEPTH = 20;

/**
 * A schema for answers: JSON Schema 2020-12 that needs nothing from elsewhere (interface rule 50 §5.1), prepared as calls prepare it.
 * @throws Refusal validation_error
 */
export async function checkOutputSchema(stored: Record<string, unknown> | null | undefined): Promise<void> {
  if (!stored) return;
  const schema = jsonOfColumn(stored) as Record<string, unknown>;
  if (schema.$schema !== undefined && schema.$schema !== DIALECT)
    throw invalid('output_schema', `.$schema must be ${DIALECT}, or left out`);
  try {
    await preparedSchema(schema, { strict: true, formats: FORMATS, depth: MOST_DEPTH });
  } catch (error) {
    if (error instanceof InvalidSchema) throw invalid('output_schema', `must be a JSON Schema (2020-12) that can be run: ${error.message}`);
    throw error;
  }
}
