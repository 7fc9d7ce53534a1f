import { compilePattern, UnsupportedPattern } from '../patterns/compile.ts';

/** A pattern of a schema: it matches anywhere in a text, in time linear in the text whatever the pattern is (RE2 semantics). */
export type SchemaPattern = { test: (text: string) => boolean /** Instructions. */; size: number };

/** The pattern, or in a sentence part why it can't be used. */
export function schemaPattern(pattern: string): SchemaPattern | string {
  try {
    const engine = compilePattern(pattern);
    return { test: (text) => engine.test(text), size: engine.programSize() };
  } catch (error) {
    if (error instanceof UnsupportedPattern) return error.message;
    throw error;
  }
}
