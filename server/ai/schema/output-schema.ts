import { createContext, Script } from 'node:vm';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { canonicalJson } from '#server/crypto/canonical-json.ts';
import { budgetFor } from '../patterns/budget.ts';
import { LONGEST_MATCH, linearPattern, UnsupportedPattern } from '../patterns/linear-pattern.ts';

/** The schema can't be used; the message says why. */
export class InvalidSchema extends Error {}

/** Where an answer doesn't fit: a JSON pointer and the keyword that says so, never a value. */
export type SchemaFault = { path: string; keyword: string };

export type OutputSchema = {
  /** What doesn't fit of an assistant's text, at most five; empty when it fits. One fenced block of JSON is taken out of its fence. */
  faults: (text: string) => SchemaFault[];
};

/**
 * Compiles a JSON Schema (2020-12) of a workspace. Its patterns run in the linear-time engine, lists are compared in linear time, and the whole check has a
 * deadline, because branches that refer to themselves can take exponential time.
 * @throws InvalidSchema
 */
export function outputSchema(schema: object): OutputSchema {
  const validate = compile(schema);
  return {
    faults(text) {
      const json = unfenced(text);
      if (json.length > LONGEST_ANSWER) return [{ path: '', keyword: 'size' }];
      let value: unknown;
      try {
        value = JSON.parse(json);
      } catch {
        return [{ path: '', keyword: 'json' }];
      }
      return withDeadline(validate, value);
    },
  };
}

function compile(schema: object): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: false, logger: false, addUsedSchema: false, code: { regExp } });
  addFormats(ajv, { mode: 'fast' });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: isUnique });
  try {
    return ajv.compile(schema);
  } catch (error) {
    if (error instanceof Error) throw new InvalidSchema(error.message.slice(0, 300));
    throw error;
  }
}

/** What Ajv uses in place of RegExp; `code` is how it names it in generated code that is never written down. */
const regExp = Object.assign(
  (pattern: string) => {
    let compiled: ReturnType<typeof linearPattern>;
    try {
      compiled = linearPattern(pattern);
    } catch (error) {
      if (error instanceof UnsupportedPattern) throw new InvalidSchema(`A pattern ${error.message}.`);
      throw error;
    }
    return {
      // Ajv keeps patterns apart by it.
      toString: () => pattern,
      test: (text: string) =>
        compiled.matchesEmpty || compiled.find(text.slice(0, LONGEST_MATCH * 16), 0, budgetFor(text.length)).length > 0,
    };
  },
  { code: 'linearPattern' },
);

const isUnique = (unique: boolean, items: readonly unknown[]): boolean =>
  !unique || new Set(items.map((item) => canonicalJson(item))).size === items.length;

// biome-ignore lint/suspicious/noExplicitAny: the package's types describe its CommonJS form
const addFormats: (ajv: Ajv2020, options: object) => void = (addFormatsModule as any).default ?? addFormatsModule;

/** One JSON value, as models like to wrap it. */
function unfenced(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || trimmed.length < 7) return trimmed;
  const body = trimmed.slice(3, -3);
  return body.includes('```') ? trimmed : body.replace(/^json\b/i, '');
}

/** Synchronous work with a time limit: the deadline of the `vm` module ends any code that runs inside of it. */
function withDeadline(validate: ValidateFunction, value: unknown): SchemaFault[] {
  let fits = false;
  const context = createContext({
    check: () => {
      fits = validate(value) as boolean;
    },
  });
  try {
    CHECK.runInContext(context, { timeout: DEADLINE_MS });
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return [{ path: '', keyword: 'timeout' }];
    throw error;
  }
  if (fits) return [];
  return (validate.errors ?? []).slice(0, MOST_FAULTS).map(({ instancePath, keyword }) => ({ path: instancePath.slice(0, 200), keyword }));
}

const CHECK = new Script('check()');
const DEADLINE_MS = 200;
const LONGEST_ANSWER = 256 * 1024;
const MOST_FAULTS = 5;
