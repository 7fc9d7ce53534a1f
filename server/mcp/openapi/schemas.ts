import { schemaPattern } from '#server/ai/schema/patterns.ts';
import { isNumber } from '#server/kernel/lossless-json.ts';
import { type Json, object, pointed } from './document.ts';

/** What a schema of an API description becomes for tools: plain JSON Schema without references, small enough to be sent with every list of tools. */

export const MAX_DEPTH = 16;
const MAX_NODES = 4_000;

/** The schema is larger than a tool may have. */
export class SchemaTooLarge extends Error {
  override readonly name = 'SchemaTooLarge';
}

/**
 * Inlines every reference. A cycle, and what lies deeper than 16 levels, becomes a schema that allows anything. All schemas of a tool share its budget: a short
 * description may refer to one large schema many times. @throws SchemaTooLarge
 */
export const inlined = (document: Json, schema: unknown, budget: Budget): Json => inline(document, schema, [], 0, budget);

/** How many places of schemas may still be written out. */
export type Budget = { left: number };
export const toolBudget = (): Budget => ({ left: MAX_NODES });

function inline(document: Json, given: unknown, open: readonly string[], depth: number, budget: Budget): Json {
  if (--budget.left < 0) throw new SchemaTooLarge('the schema is too large');
  if (depth > MAX_DEPTH) return {};
  const schema = object(given);
  const ref = schema.$ref;
  if (typeof ref === 'string') {
    if (open.includes(ref)) return cut(ref);
    const target = inline(document, pointed(document, ref), [...open, ref], depth, budget);
    // 3.1 lets a reference have siblings; a description is the one that people write.
    return typeof schema.description === 'string' ? { ...target, description: schema.description.slice(0, 2_000) } : target;
  }
  const within = (value: unknown) => inline(document, value, open, depth + 1, budget);
  const entries: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (COPIED.has(keyword)) entries.push([keyword, charged(value, budget)]);
    else if (LISTS.has(keyword)) entries.push([keyword, list(value).map(within)]);
    else if (NESTED.has(keyword)) entries.push([keyword, typeof value === 'boolean' ? value : within(value)]);
    else if (keyword === 'pattern' && isLinear(value)) entries.push([keyword, value]);
    else if (keyword === 'description' || keyword === 'title') entries.push([keyword, String(value).slice(0, 2_000)]);
  }
  return withProperties(asJsonSchema(schema, Object.fromEntries(entries)), schema, within);
}

const cut = (ref: string): Json => ({ description: `The same shape as ${ref.split('/').at(-1)?.slice(0, 100)} again.` });

/** Members of an answer only are not for callers. */
function withProperties(into: Json, schema: Json, within: (value: unknown) => Json): Json {
  const properties = Object.entries(object(schema.properties)).filter(([, member]) => object(member).readOnly !== true);
  if (properties.length > 0) into.properties = Object.fromEntries(properties.map(([name, member]) => [name, within(member)]));
  const names = new Set(properties.map(([name]) => name));
  const required = list(schema.required).filter(
    (name) => typeof name === 'string' && (names.has(name) || !Object.hasOwn(object(schema.properties), name)),
  );
  if (required.length > 0) into.required = required.slice(0, 1_000);
  return into;
}

/** What 3.0 spells differently from JSON Schema. */
function asJsonSchema(schema: Json, into: Json): Json {
  if (schema.nullable === true && typeof into.type === 'string') into.type = [into.type, 'null'];
  if (schema.nullable === true && Array.isArray(into.enum) && !into.enum.includes(null)) into.enum = [...into.enum, null];
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (isNumber(schema[exclusive])) into[exclusive] = schema[exclusive];
    if (schema[exclusive] !== true || !isNumber(into[bound])) continue;
    into[exclusive] = into[bound];
    delete into[bound];
  }
  return into;
}

const COPIED = new Set(
  'type,enum,const,format,default,minimum,maximum,multipleOf,minLength,maxLength,minItems,maxItems,uniqueItems,minProperties,maxProperties'.split(
    ',',
  ),
);
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const NESTED = new Set(['items', 'additionalProperties', 'not']);

/** Values of `enum`, `const` and `default` may be anything, and count like schemas do. */
function charged(value: unknown, budget: Budget): unknown {
  budget.left -= Math.floor((JSON.stringify(value) ?? 'null').length / 64);
  if (budget.left < 0) throw new SchemaTooLarge('the schema is too large');
  return value;
}

/** A pattern that only a backtracking engine can run, or that is large, is left out: the upstream still applies it. */
const isLinear = (pattern: unknown): boolean =>
  typeof pattern === 'string' && pattern.length <= 500 && typeof schemaPattern(pattern) !== 'string';

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
