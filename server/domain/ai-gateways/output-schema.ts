import { InvalidSchema, outputSchema } from '#server/ai/schema/output-schema.ts';
import { invalid } from '#server/kernel/errors.ts';

const MOST_DEPTH = 20;

/**
 * A schema for answers: JSON Schema 2020-12 that needs nothing from elsewhere (interface rule 50 §5.1). Compiled as calls compile it.
 * @throws Refusal validation_error
 */
export function checkOutputSchema(schema: Record<string, unknown>): void {
  if (depthOf(schema) > MOST_DEPTH) throw invalid('output_schema', `must be at most ${MOST_DEPTH} levels deep`);
  const remote = referencesIn(schema).find((reference) => !reference.startsWith('#'));
  if (remote !== undefined) throw invalid('output_schema', 'must only refer to itself: a $ref begins with #');
  try {
    outputSchema(schema);
  } catch (error) {
    if (error instanceof InvalidSchema) throw invalid('output_schema', `must be a JSON Schema (2020-12) that can be run: ${error.message}`);
    throw error;
  }
}

/** Stops one level beyond what is allowed. */
function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > MOST_DEPTH) return depth;
  return Math.max(depth + 1, ...Object.values(value).map((member) => depthOf(member, depth + 1)));
}

const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef', '$schema']);
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    REFERENCES.has(key) && typeof member === 'string' ? (key === '$schema' && member === DIALECT ? [] : [member]) : referencesIn(member),
  );
}
