import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { Filter as ScimmyFilter } from 'scimmy/types';
import { fold } from '#server/kernel/fold.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { THOROUGH } from '#server/testing/thorough.ts';
import { ScimProblem } from '../problem.ts';
import { userColumns } from '../resources/user-columns.ts';
import { userType } from '../schema/user.ts';
import type { Comparison } from './filter.ts';
import { parseFilter } from './parse.ts';
import { type Column, toSql } from './sql.ts';

// Generated filters over a few dozen people: what PostgreSQL finds is what an evaluator finds that knows neither our parser nor our SQL, and what the
// filter of the scimmy package finds where the two agree on the rules. Corrupted filters find nothing, whatever they were.

await ownDatabase();
const RUNS = THOROUGH ? 5_000 : 300;
const seed = THOROUGH ? Date.now() % 2 ** 31 : 20_261_123;

// --- The people -------------------------------------------------------------------------------------------------------------------------

/** Each has another spelling of itself, or means something to LIKE, to JSON or to a shell. */
const PIECES = [
  'a',
  'A',
  'b',
  'B',
  'ä',
  'A\u0308',
  'ß',
  'ẞ',
  'Σ',
  'ς',
  '%',
  '_',
  '\\',
  '"',
  "'",
  ' ',
  '@',
  '.',
  '0',
  '𝒜',
  '\u{1f600}',
  '\uffee',
];
const FOLDED: Readonly<Record<string, string>> = { A: 'a', B: 'b', H: 'h', Ä: 'ä', ẞ: 'ß', Σ: 'σ', ς: 'σ' };
const folded = (text: string) => Array.from(text.normalize('NFC'), (character) => FOLDED[character] ?? character).join('');

const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 4 }).map((pieces) => pieces.join(''));
const email = fc.record(
  { value: text, type: fc.constantFrom('work', 'Home', 'other'), primary: fc.boolean() },
  { requiredKeys: ['value'] },
);
const person = fc.record(
  {
    id: fc.uuid(),
    externalId: text,
    userName: text,
    displayName: text,
    name: fc.record({ givenName: text, familyName: text, formatted: text }, { requiredKeys: [] }),
    emails: fc.array(email, { maxLength: 3 }),
    active: fc.boolean(),
    meta: fc.record({
      created: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-06-30T22:15:01.999Z'),
      lastModified: fc.constant('2026-07-01T00:00:00.000Z'),
    }),
  },
  { requiredKeys: ['id', 'userName', 'name', 'emails', 'active', 'meta'] },
);
type Person = Record<string, unknown> & { id: string; userName: string };
const people = fc.sample(fc.array(person, { minLength: 60, maxLength: 60 }), { numRuns: 1, seed: 7 })[0] as unknown as Person[];

const client = await sql().connect();
onFileEnd(async () => client.release(true));
await client.query(`create temporary table people (id uuid, external_id text, user_name text, user_name_folded text,
  given_name text, family_name text, formatted text, display_name text, emails jsonb, active boolean, created_at timestamptz, updated_at timestamptz)`);
await store(people);

async function store(them: readonly { userName: string }[]): Promise<void> {
  await client.query('truncate people');
  await client.query(
    `insert into people (id, external_id, user_name, user_name_folded, given_name, family_name, formatted, display_name, emails, active, created_at, updated_at)
      select (p->>'id')::uuid, p->>'externalId', p->>'userName', p->>'folded', p->'name'->>'givenName', p->'name'->>'familyName', p->'name'->>'formatted', p->>'displayName',
        p->'emails', (p->>'active')::boolean, (p->'meta'->>'created')::timestamptz, (p->'meta'->>'lastModified')::timestamptz from jsonb_array_elements($1::jsonb) p`,
    [JSON.stringify(them.map((one) => ({ ...one, folded: fold(one.userName) })))],
  );
}

// The index of emails belongs to the real table; its condition is one that always holds.
const columns = {
  ...userColumns,
  active: { type: 'boolean', sql: 's.active' },
  emails: { ...userColumns.emails, holding: (value: string) => `${value} is not null` } as Column,
} as const;
async function found(filter: string): Promise<string[]> {
  const { text, values } = toSql(parseFilter(filter, userType), columns);
  const { rows } = await client.query<{ id: string }>(`select s.id from people s where ${text} order by s.id`, values);
  return rows.map(({ id }) => id);
}

// --- The filters ------------------------------------------------------------------------------------------------------------------------

type Test = { path: string; op: Comparison | 'pr'; value?: string | boolean | null };
type Tree = { test: Test } | { and: Tree[] } | { or: Tree[] } | { not: Tree } | { emails: Tree; part?: Test };

const EXACT = ['id', 'externalId'];
const TIMES = ['meta.created', 'meta.lastModified'];
const known = people.flatMap((one) => [
  one.userName,
  one.externalId,
  one.displayName,
  ...(one.emails as { value: string }[]).map(({ value }) => value),
]);
const value = fc.oneof(text, fc.constantFrom(...(known.filter((one) => typeof one === 'string') as string[])));
const textTest = (...paths: string[]) =>
  fc.record({
    path: fc.constantFrom(...paths),
    op: fc.constantFrom<Comparison[]>('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'),
    value,
  });
const nullTest = (...paths: string[]) =>
  fc.oneof(
    fc.record({ path: fc.constantFrom(...paths), op: fc.constant('pr' as const) }),
    fc.record({ path: fc.constantFrom(...paths), op: fc.constantFrom('eq' as const, 'ne' as const), value: fc.constant(null) }),
  );
const booleanTest = (path: string) =>
  fc.record({ path: fc.constant(path), op: fc.constantFrom('eq' as const, 'ne' as const), value: fc.boolean() });
const idTest = fc.record({
  path: fc.constant('id'),
  op: fc.constantFrom<Comparison[]>('eq', 'ne', 'sw', 'lt'),
  value: fc.constantFrom(...people.map(({ id }) => id), 'x'),
});
const timeTest = fc.record({
  path: fc.constantFrom(...TIMES),
  op: fc.constantFrom<Comparison[]>('eq', 'ne', 'gt', 'ge', 'lt', 'le'),
  value: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T01:00:00.000+01:00', '2026-06-30T22:15:01.999Z', '2026-12-31T23:59:59Z'),
});
const elementTest = fc.oneof(textTest('value', 'type'), nullTest('value', 'type', 'primary'), booleanTest('primary'));
const resourceTest = fc.oneof(
  textTest(
    'userName',
    'externalId',
    'displayName',
    'name.givenName',
    'name.familyName',
    'name.formatted',
    'emails',
    'emails.value',
    'emails.type',
  ),
  nullTest('externalId', 'displayName', 'name', 'name.givenName', 'emails', 'emails.type', 'active', 'userName'),
  booleanTest('active'),
  booleanTest('emails.primary'),
  idTest,
  timeTest,
);

const trees = (leaf: fc.Arbitrary<Test>, other: fc.Arbitrary<Tree>[] = []) =>
  fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.record({ test: leaf }),
      ...other,
      fc.record({ and: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }) }),
      fc.record({ or: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }) }),
      fc.record({ not: tie('tree') }),
    ),
  })).tree;
const inElement = fc.record({ emails: trees(elementTest), part: elementTest }, { requiredKeys: ['emails'] }) as fc.Arbitrary<Tree>;
const tree = trees(resourceTest, [inElement]);

/** Spelled in one of the ways the grammar has; `odd` decides which. */
function written(node: Tree, odd: () => boolean): string {
  const cased = (word: string) => (odd() ? word.toUpperCase() : word);
  const test = ({ path, op, value }: Test, urn = '') =>
    `${urn}${cased(path)} ${cased(op)}${op === 'pr' ? '' : ` ${value === null ? 'null' : JSON.stringify(value)}`}`;
  const grouped = (part: Tree, inside: boolean) => {
    const one = written(part, odd);
    return ('or' in part && inside) || odd() ? `(${one})` : one;
  };
  if ('test' in node) return test(node.test, odd() ? 'urn:ietf:params:scim:schemas:core:2.0:User:' : '');
  if ('and' in node) return node.and.map((part) => grouped(part, true)).join(` ${cased('and')} `);
  if ('or' in node) return node.or.map((part) => grouped(part, false)).join(` ${cased('or')} `);
  if ('not' in node) return `${cased('not')}${odd() ? ' ' : ''}(${written(node.not, odd)})`;
  return `${cased('emails')}[${written(node.emails, odd).replaceAll('urn:ietf:params:scim:schemas:core:2.0:User:', '')}]${node.part ? `.${test(node.part)}` : ''}`;
}

// --- The evaluator ----------------------------------------------------------------------------------------------------------------------

function passes(node: Tree, one: Record<string, unknown>): boolean {
  if ('and' in node) return node.and.every((part) => passes(part, one));
  if ('or' in node) return node.or.some((part) => passes(part, one));
  if ('not' in node) return !passes(node.not, one);
  if ('emails' in node) {
    const emails = one.emails as Record<string, unknown>[];
    return emails.some((element) => passes(node.emails, element) && (!node.part || passes({ test: node.part }, element)));
  }
  const { path, op, value } = node.test;
  if (op === 'pr') return isPresent(one, path);
  if (value === null) return isPresent(one, path) === (op === 'ne');
  return valuesAt(one, path === 'emails' ? 'emails.value' : path).some((actual) => holds(path, actual, op, value));
}

function valuesAt(one: Record<string, unknown>, path: string): unknown[] {
  const [first = '', part] = path.split('.');
  const outer = one[first];
  if (Array.isArray(outer)) return outer.map((element) => element[part ?? 'value']);
  return [part === undefined ? outer : (outer as Record<string, unknown> | undefined)?.[part]];
}

const isPresent = (one: Record<string, unknown>, path: string): boolean =>
  path === 'name' || path === 'emails'
    ? valuesAt(one, path).some((inner) => inner !== undefined) &&
      [one[path]].flat().some((inner) => Object.values(inner as object).some((member) => member !== ''))
    : valuesAt(one, path).some((actual) => actual !== undefined && actual !== '');

function holds(path: string, actual: unknown, op: Comparison, value: unknown): boolean {
  if (op === 'ne') return !holds(path, actual, 'eq', value);
  if (actual === undefined) return false;
  if (typeof value === 'boolean') return actual === value;
  const exact = EXACT.includes(path);
  const [a, b] = [actual, value].map((side) => {
    if (TIMES.includes(path)) return [Date.parse(String(side))];
    return Array.from(exact ? String(side) : folded(String(side)), (character) => character.codePointAt(0) as number);
  }) as [number[], number[]];
  const order = compareLists(a, b);
  const at = (from: number) => b.every((code, i) => a[from + i] === code);
  switch (op) {
    case 'eq':
      return order === 0;
    case 'gt':
      return order > 0;
    case 'ge':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'le':
      return order <= 0;
    case 'sw':
      return at(0);
    case 'ew':
      return a.length >= b.length && at(a.length - b.length);
    case 'co':
      return Array.from({ length: a.length + 1 }, (_, from) => from).some((from) => from + b.length <= a.length && at(from));
  }
}

function compareLists(a: number[], b: number[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return (a[i] as number) - (b[i] as number);
  return a.length - b.length;
}

// --- The promises -----------------------------------------------------------------------------------------------------------------------

test('PostgreSQL finds what an independent evaluator finds', async () => {
  const sizes = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(tree, fc.infiniteStream(fc.integer({ min: 0, max: 5 })), async (node, stream) => {
      const filter = written(node, () => stream.next().value === 0);
      fc.pre(filter.length <= 4_096 && filter.split(/ (?:eq|ne|co|sw|ew|gt|ge|lt|le|pr)\b/i).length <= 51 && bracketDepth(filter) <= 20);
      const expected = people
        .filter((one) => passes(node, one))
        .map(({ id }) => id)
        .sort();
      sizes.set(filter, expected.length);
      assert.deepEqual(await found(filter), expected, filter);
    }),
    { numRuns: RUNS, seed },
  );
  const telling = [...sizes.values()].filter((size) => size > 0 && size < people.length).length;
  assert.ok(telling > sizes.size / 4, `only ${telling} of ${sizes.size} filters tell people apart`);
});

const bracketDepth = (filter: string) => {
  let [depth, deepest] = [0, 0];
  for (const character of filter.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')) {
    if (character === '(' || character === '[') deepest = Math.max(deepest, ++depth);
    if (character === ')' || character === ']') depth--;
  }
  return deepest;
};

/**
 * scimmy compares by case, decodes no escapes, has no `not (…)`, searches the word "undefined" in what is absent and merges two filters over emails that
 * "and" joins: the generated filters stay clear of these.
 */
test('scimmy finds the same people', async () => {
  const plain = people.map((one, i) => ({
    ...one,
    userName: `user${i % 7}@acme.com`,
    displayName: `person ${i % 5}`,
    externalId: `x${i}`,
    name: { givenName: `given${i % 3}`, familyName: `family${i % 4}`, formatted: 'x' },
    emails: [
      { value: `u${i % 6}@acme.com`, type: 'work' },
      { value: `h${i % 4}@home.org`, type: i % 2 ? 'home' : 'other' },
    ],
  }));
  const words = [
    'user1',
    'user1@acme.com',
    'person 2',
    'x7',
    'given1',
    'family3',
    'work',
    'home',
    'acme',
    'u3@acme.com',
    '@home.org',
    'other',
    '1',
    'e',
  ];
  const plainTest = (...paths: string[]) =>
    fc.record({
      path: fc.constantFrom(...paths),
      op: fc.constantFrom<Comparison[]>('eq', 'ne', 'co', 'sw', 'ew'),
      value: fc.constantFrom(...words),
    });
  const onPerson = plainTest('userName', 'displayName', 'externalId', 'name.givenName', 'name.familyName').map((test): Tree => ({ test }));
  const onEmail = fc.record({ emails: plainTest('value', 'type').map((test): Tree => ({ test })) });
  const joined = fc.record({ and: fc.tuple(onPerson, fc.oneof(onPerson, onEmail)) });
  const both = fc.oneof(onPerson, onEmail, joined, fc.record({ or: fc.tuple(joined, fc.oneof(onPerson, onEmail)) }));
  await store(plain);
  await fc.assert(
    fc.asyncProperty(both, async (node) => {
      const filter = written(node as Tree, () => false);
      const expected = new ScimmyFilter(filter).match(plain).map((one) => (one as unknown as Person).id);
      assert.deepEqual(await found(filter), expected.sort(), filter);
    }),
    { numRuns: RUNS / 2, seed },
  );
});

test('a corrupted filter is refused, or it is another filter: it never fails otherwise', async () => {
  const noise = fc.constantFrom(
    '',
    '"',
    '(',
    ')',
    '[',
    ']',
    ' ',
    '\\',
    '.',
    ':',
    '\0',
    '\u{1f600}',
    "'",
    ';--',
    ' and ',
    ' or ',
    'not ',
    ' eq ',
    '$1',
    'null',
  );
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(tree, fc.nat(), fc.nat({ max: 3 }), noise, async (node, at, removed, added) => {
      const whole = written(node, () => false);
      const place = at % (whole.length + 1);
      const filter = whole.slice(0, place) + added + whole.slice(place + removed);
      try {
        const { text, values } = toSql(parseFilter(filter, userType), columns);
        assert.doesNotMatch(text, /[^\0-\x7f]/);
        for (const one of values) assert.ok(typeof one !== 'string' || one.length < 4 || !text.includes(one), filter);
      } catch (error) {
        if (!(error instanceof ScimProblem)) throw error;
        assert.equal(error.scimType, 'invalidFilter');
        refused++;
      }
    }),
    { numRuns: RUNS * 4, seed },
  );
  assert.ok(refused > RUNS);
});

test('every corruption that leaves the grammar is refused', () => {
  const corruptions: ((filter: string) => string)[] = [
    (filter) => `${filter} and`,
    (filter) => `or ${filter}`,
    (filter) => `(${filter}`,
    (filter) => `${filter})`,
    (filter) => `${filter} userName`,
    (filter) => `not ${filter.startsWith('(') ? 'x' : ''}${filter}`,
    (filter) => `${filter} and userName eq ann`,
    (filter) => `${filter} or nickName pr`,
    (filter) => `${filter} or urn:example:2.0:User:userName pr`,
    (filter) => `${filter} and userName is "x"`,
    (filter) => `${filter} and userName eq "x`,
    (filter) => `${filter} and active ge true`,
    (filter) => `${filter}]`,
    (filter) => `emails[${filter}]]`,
  ];
  fc.assert(
    fc.property(tree, fc.constantFrom(...corruptions), (node, corrupt) => {
      const filter = corrupt(written(node, () => false));
      assert.throws(
        () => parseFilter(filter, userType),
        (error) => error instanceof ScimProblem && error.scimType === 'invalidFilter',
        filter,
      );
    }),
    { numRuns: RUNS, seed },
  );
});
