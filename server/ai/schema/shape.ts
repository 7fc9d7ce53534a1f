import { compareNumbers, isComparable, isWhole, LONGEST_NUMBER } from '#server/kernel/decimals.ts';
import { isExact, isNumber } from '#server/kernel/lossless-json.ts';
import { asSameDoubles } from '#server/kernel/number-values.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { IN_PLACE, isMembers, KEYWORDS, type Kind, type Members, referred, TYPES } from './keywords.ts';

/** The schema can't be used; the message says what is wrong and where, or what it has too much of. */
export class InvalidSchema extends Error {
  override readonly name = 'InvalidSchema';
}

/** What a schema of a workspace or of an upstream may have. Depth counts levels of its JSON. */
export const SCHEMA_LIMITS = {
  depth: 64,
  values: 10_000,
  references: 2_000,
  patterns: 100,
  /** Schemas that one value may be held against: every reference written out, a cycle once. */
  branching: 100_000,
  /** The longest way through schemas and references. */
  way: 300,
} as const;

/** A schema that can be run. */
export type Shape = { root: unknown; targets: ReadonlyMap<string, unknown>; patterns: readonly { pattern: string; path: string }[] };

/**
 * Checks a JSON Schema (2020-12) before anything of it runs: that its keywords have values that mean something, that it needs nothing from elsewhere, and
 * that it is no larger than a schema may be. Linear in the schema, in which `depth` may be narrower. @throws InvalidSchema
 */
export function assertSchemaShape(schema: unknown, depth: number = SCHEMA_LIMITS.depth): Shape {
  assertSize(schema, depth);
  const root = asSameDoubles(schema);
  const anchors = new Map<string, unknown>();
  const patterns: { pattern: string; path: string }[] = [];
  const references: { reference: string; path: string; from: Edge[] }[] = [];
  const targets = new Map<string, unknown>();
  const edges = new Map<unknown, Edge[]>();
  const walk = (schema: unknown, path: string): void => {
    if (typeof schema === 'boolean' || edges.has(schema)) return;
    if (!isMembers(schema)) throw new InvalidSchema(`${path || '/'} must be a schema: an object, true or false`);
    const next: Edge[] = [];
    edges.set(schema, next);
    for (const keyword of Object.keys(schema)) {
      const value = schema[keyword];
      const kind = KEYWORDS.get(keyword);
      const problem = kind && problemOf(kind, value);
      if (problem) throw new InvalidSchema(`${path}/${keyword} ${problem}`);
      if (keyword === '$id' && path !== '') throw new InvalidSchema(`${path}/$id can't be used: only the whole schema has an address`);
      if (kind === 'pattern') patterns.push({ pattern: value as string, path: `${path}/${keyword}` });
      else if (keyword === '$ref' || keyword === '$dynamicRef')
        references.push({ reference: value as string, path: `${path}/${keyword}`, from: next });
      else if ((keyword === '$anchor' || keyword === '$dynamicAnchor') && !anchors.has(value as string))
        anchors.set(value as string, schema);
      else if (kind === 'schema') inside(value, keyword, `${path}/${keyword}`, next);
      else if (kind === 'schemas')
        (value as unknown[]).forEach((child, i) => {
          inside(child, keyword, `${path}/${keyword}/${i}`, next);
        });
      else if (kind === 'named_schemas')
        for (const name of Object.keys(value as Members)) {
          const at = `${path}/${keyword}/${name.slice(0, 100)}`;
          if (keyword === 'patternProperties') patterns.push({ pattern: name, path: at });
          inside((value as Members)[name], keyword, at, next);
        }
    }
  };
  const inside = (child: unknown, keyword: string, path: string, next: Edge[]): void => {
    // Definitions count where they are referred to.
    if (keyword !== '$defs' && keyword !== 'definitions') next.push({ schema: child, inPlace: IN_PLACE.has(keyword) });
    walk(child, path);
  };
  walk(root, '');
  // What a reference leads to may lie where no keyword expects a schema, and have references of its own.
  for (let i = 0; i < references.length; i++) {
    const { reference, path, from } = references[i] as (typeof references)[number];
    if (!reference.startsWith('#')) throw new InvalidSchema(`${path} must begin with #: a schema only refers to itself`);
    if (references.length > SCHEMA_LIMITS.references)
      throw new InvalidSchema(`it has more than ${grouped(SCHEMA_LIMITS.references)} references: write some of them out, or use fewer`);
    const target = referred(root, anchors, reference);
    if (target === undefined) throw new InvalidSchema(`${path} leads nowhere: ${reference.slice(0, 100)}`);
    targets.set(reference, target);
    from.push({ schema: target, inPlace: true });
    walk(target, reference.slice(1, 100));
  }
  if (patterns.length > SCHEMA_LIMITS.patterns)
    throw new InvalidSchema(`it has more than ${SCHEMA_LIMITS.patterns} patterns: use fewer, or enum and format`);
  assertBranching(root, edges);
  assertEnds(edges);
  return { root, targets, patterns };
}

/** The schemas that each leads to, and whether they look at the same value. */
type Edge = { schema: unknown; inPlace: boolean };
type Edges = ReadonlyMap<unknown, readonly Edge[]>;

/** Counts values and levels, whatever they mean. */
function assertSize(root: unknown, most: number): void {
  let values = 0;
  const count = (value: unknown, depth: number): void => {
    if (++values > SCHEMA_LIMITS.values)
      throw new InvalidSchema(`it has more than ${grouped(SCHEMA_LIMITS.values)} values: leave out what the check doesn't need`);
    if (typeof value !== 'object' || value === null || isExact(value)) return;
    if (depth >= most) throw new InvalidSchema(`it must be at most ${most} levels deep`);
    for (const member of Object.values(value)) count(member, depth + 1);
  };
  count(root, 0);
}

/** How many schemas are reached when every reference is written out; a cycle counts once, where it closes. */
function assertBranching(root: unknown, edges: Edges): void {
  const known = new Map<unknown, number>();
  const open = new Set<unknown>();
  const count = (schema: unknown, way: number): number => {
    if (!isMembers(schema) || open.has(schema)) return 1;
    const before = known.get(schema);
    if (before !== undefined) return before;
    assertWay(way);
    open.add(schema);
    let sum = 1;
    for (const next of edges.get(schema) ?? []) {
      sum += count(next.schema, way + 1);
      if (sum > SCHEMA_LIMITS.branching)
        throw new InvalidSchema(
          `one value is held against more than ${grouped(SCHEMA_LIMITS.branching)} schemas once every reference is written out: use fewer branches and references`,
        );
    }
    open.delete(schema);
    known.set(schema, sum);
    return sum;
  };
  count(root, 0);
}

/** A cycle of schemas that all look at the same value never ends. */
function assertEnds(edges: Edges): void {
  const over = new Set<unknown>();
  const open = new Set<unknown>();
  const visit = (schema: unknown, way: number): void => {
    if (!isMembers(schema) || over.has(schema)) return;
    if (open.has(schema)) throw new InvalidSchema('a $ref leads back to itself without going deeper, so it never ends');
    assertWay(way);
    open.add(schema);
    for (const next of edges.get(schema) ?? []) if (next.inPlace) visit(next.schema, way + 1);
    open.delete(schema);
    over.add(schema);
  };
  for (const schema of edges.keys()) visit(schema, 0);
}

function assertWay(way: number): void {
  if (way > SCHEMA_LIMITS.way)
    throw new InvalidSchema(
      `a way through its references is longer than ${SCHEMA_LIMITS.way} schemas: let them lead to each other more directly`,
    );
}

const isCount = (value: unknown): boolean => isNumber(value) && isWhole(value) && compareNumbers(value, 0) >= 0;
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string');

const PROBLEMS: Readonly<Record<Kind, (value: unknown) => string | false>> = {
  // What is inside is walked by itself.
  schema: () => false,
  schemas: (value) => !(Array.isArray(value) && value.length > 0) && 'must be a list of schemas',
  named_schemas: (value) => !isMembers(value) && 'must be an object of schemas',
  count: (value) => !isCount(value) && 'must be a whole number of at least 0',
  number: (value) => !isNumber(value) && 'must be a number',
  positive: (value) => !(isNumber(value) && compareNumbers(value, 0) > 0) && 'must be a number above 0',
  boolean: (value) => typeof value !== 'boolean' && 'must be true or false',
  text: (value) => typeof value !== 'string' && 'must be a text',
  texts: (value) => !areTexts(value) && 'must be a list of names',
  named_texts: (value) => !(isMembers(value) && Object.values(value).every(areTexts)) && 'must be an object of lists of names',
  list: (value) => !Array.isArray(value) && 'must be a list of values',
  types: (value) =>
    !(Array.isArray(value) ? value.length > 0 && value.every((one) => TYPES.has(one)) : TYPES.has(value)) &&
    `must be one of ${[...TYPES].join(', ')}, or a list of them`,
  pattern: (value) => typeof value !== 'string' && 'must be a text',
};

const problemOf = (kind: Kind, value: unknown): string | false =>
  isNumber(value) && !isComparable(value)
    ? `must have at most ${LONGEST_NUMBER} characters, and an exponent of at most 15 digits`
    : PROBLEMS[kind](value);
