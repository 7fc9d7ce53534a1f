import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { isObject } from './messages.ts';

// Arguments against the schema of their tool. Schemas come from upstreams and arguments from callers, so neither may cost more than it should: patterns run in
// linear time, and what could take long is left to the upstream, which checks anyway.

/** What is wrong with an argument; never its value. */
export type ArgumentFault = { readonly path: string; readonly keyword: string; readonly message: string };

/** Size of the schema times characters of the arguments. */
const MOST_WORK = 5_000_000;
const MOST_PATTERNS = 20;
const MOST_FAULTS = 5;

type Compiled = { validate: ValidateFunction; size: number } | null;
const compiled = new WeakMap<object, Compiled>();

/** The first faults, none for good arguments; null when they were not checked. `length` is that of their JSON text. */
export function argumentFaults(schema: Readonly<Record<string, unknown>>, args: unknown, length: number): ArgumentFault[] | null {
  let found = compiled.get(schema);
  if (found === undefined) {
    found = compile(schema);
    compiled.set(schema, found);
  }
  if (found === null || found.size * length > MOST_WORK) return null;
  const { validate } = found;
  if (validate(args)) return [];
  return (validate.errors ?? []).slice(0, MOST_FAULTS).map(({ instancePath, keyword, message = 'is not valid', params }) => ({
    path: instancePath === '' ? '/' : instancePath,
    keyword,
    message: keyword === 'additionalProperties' ? `${message} (${String(params.additionalProperty).slice(0, 100)})` : message,
  }));
}

function compile(schema: Readonly<Record<string, unknown>>): Compiled {
  const size = workOf(schema);
  if (size === null) return null;
  // Drafts before 2020-12 differ in nothing that tools' arguments use; their meta schemas aren't loaded.
  const { $schema: _, $id: __, ...plain } = schema;
  try {
    if (!metaSchemas.validateSchema(plain)) return null;
    // Compiling the meta schemas takes longer than most tools: that was done once.
    const ajv = new Ajv2020({ ...OPTIONS, meta: false, validateSchema: false, allErrors: true, code: { regExp: linear } });
    // Comparing every pair of a list's items takes the square of its length.
    ajv.removeKeyword('uniqueItems');
    return { validate: ajv.compile(plain), size };
  } catch {
    return null; // a reference to elsewhere, or no schema at all
  }
}

const OPTIONS = { strict: false, logger: false, validateFormats: false } as const;
const metaSchemas = new Ajv2020(OPTIONS);

/** ECMAScript patterns as RE2 reads them. One that it can't read is left to the upstream. */
const linear = Object.assign(
  (pattern: string) => {
    // Ajv takes patterns of the same text for the same.
    const named = { toString: () => pattern };
    try {
      const re = RE2JS.compile(pattern);
      if (re.programSize() <= LARGEST_PROGRAM) return { test: (text: string) => re.matcher(text).find(), ...named };
    } catch {
      // Falls through: look-around, for example.
    }
    return { test: () => true, ...named };
  },
  // Only for code that is written to a file, which this never is.
  { code: 'undefined' },
);

/** Repetitions are written out in a program; a larger one is slow even in linear time. */
const LARGEST_PROGRAM = 2_000;

/** In the same place of the arguments, several of these each look at everything below. */
const BRANCHES = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'patternProperties',
  'contains',
  'prefixItems',
];
/** Compiling holds the whole process, and an upstream may send another schema with every list. */
const MOST_SIZE = 1_000;
const MOST_DEPTH = 200;

/** How many places of the schema one place of the arguments may be held against; null when that can't be bounded, or is too much. */
function workOf(root: Readonly<Record<string, unknown>>): number | null {
  let size = 0;
  let patterns = 0;
  let recursive = false;
  let branches = false;
  const open = new Set<unknown>();
  const visit = (value: unknown, depth: number): boolean => {
    if (++size > MOST_SIZE || depth > MOST_DEPTH) return false;
    if (Array.isArray(value)) return value.every((item) => visit(item, depth + 1));
    if (!isObject(value)) return true;
    if (open.has(value)) {
      recursive = true;
      return true;
    }
    open.add(value);
    const fine = Object.entries(value).every(([key, child]) => {
      if (BRANCHES.includes(key)) branches = true;
      if (key === 'pattern') patterns++;
      if (key === 'patternProperties' && isObject(child)) patterns += Object.keys(child).length;
      if (key === '$ref' && typeof child === 'string') return child.startsWith('#') && visit(pointedAt(root, child), depth + 1);
      // Definitions count where they are referred to.
      return key === '$defs' || key === 'definitions' || key === '$dynamicRef' ? key !== '$dynamicRef' : visit(child, depth + 1);
    });
    open.delete(value);
    return fine;
  };
  return visit(root, 0) && patterns <= MOST_PATTERNS && !(recursive && branches) ? size : null;
}

function pointedAt(root: unknown, reference: string): unknown {
  let value = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    value = typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  }
  return value;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
