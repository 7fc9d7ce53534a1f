import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import { testDatabase } from '#server/testing/database.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { THOROUGH } from '#server/testing/thorough.ts';
import { splitStatements } from './statements.shared.ts';

// The splitter against the lexer of PostgreSQL: the server gets whole scripts, and their statements one by one. Where it accepts a script, both must
// give the same rows; what the splitter finds unfinished, the server must refuse.

const RUNS = THOROUGH ? 30_000 : 1_500;
const seed = THOROUGH ? Date.now() % 2 ** 31 : 20_261_123;

const { url } = await testDatabase();
const client = new pg.Client({ connectionString: url, statement_timeout: 60_000 });
await client.connect();
onFileEnd(() => client.end());

const inside = fc.string({ unit: fc.constantFrom(...';\'"$a\\-/* \nEe1(b'), maxLength: 8 });
const literal = fc.oneof(
  inside.map((text) => `'${text.replaceAll("'", "''")}'`),
  inside.map((text) => `E'${text.replaceAll(/[\\']/g, '\\$&')}'`),
  inside.map((text) => `$$${text.replaceAll('$', '')}$$`),
  inside.map((text) => `$a$${text.replaceAll('$a$', '').replace(/\$a?$/, '')}$a$`),
  fc.tuple(inside, inside).map(([a, b]) => `e'${a.replaceAll(/[\\']/g, '\\$&')}'\n'${b.replaceAll(/[\\']/g, '\\$&')}'`),
  fc.constantFrom('1', '2.5', "('(;')", '(1)', "U&'\\0061;'", "B'01'", "x'1F'"),
);
const alias = fc.oneof(
  fc.constant(''),
  fc.constantFrom(' AS a$b$', ' AS e', ' AS "a;b"'),
  inside.map((text) => ` AS "a${text.replaceAll('"', '""')}"`),
);
const gap = fc.oneof(
  fc.constantFrom('', ' ', '\n', '/*;*/', '/* ; /* ; */ */', '--;\n', "-- '\r", '/*/;*/', '/* \' $$ " */'),
  inside.map((text) => `/*${text.replaceAll(/[/*]/g, '')}*/`),
);
const statement = fc.tuple(gap, literal, alias, gap).map(([before, value, name, after]) => `${before} SELECT ${value}${name} ${after}`);
const script = fc
  .array(fc.oneof({ weight: 6, arbitrary: statement }, { weight: 1, arbitrary: gap }), { minLength: 1, maxLength: 5 })
  .map((all) => all.join(';'));
/** A script with a character taken out or put in: it may begin and end its quotes elsewhere and still be valid. */
const broken = fc
  .tuple(script, fc.nat(), fc.constantFrom('', ';', "'", '"', '$', '\\', '-', '*', '/', 'E', '\n', '(', ')'))
  .map(([text, place, character]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + character + text.slice(character === '' ? at + 1 : at);
  });

type Answer = { rows: unknown[][] } | { refused: string };

async function answerOf(sql: string): Promise<Answer> {
  try {
    const results = await client.query({ text: sql, rowMode: 'array' });
    return { rows: [results].flat().flatMap((each) => (each.command === null ? [] : each.rows)) };
  } catch (error) {
    return { refused: String(error) };
  }
}

async function agrees(sql: string): Promise<boolean> {
  const whole = await answerOf(sql);
  const { statements, problem } = splitStatements(sql, 'postgres');
  if (problem) assert.ok('refused' in whole, `PostgreSQL accepts it: ${JSON.stringify(sql)}`);
  if (problem || 'refused' in whole) return false;
  const rows: unknown[][] = [];
  for (const each of statements) {
    const answer = await answerOf(each);
    assert.ok('rows' in answer, JSON.stringify({ sql, each, answer }));
    // Each is one statement to the server as well.
    assert.equal(answer.rows.length, 1, JSON.stringify({ sql, each }));
    rows.push(...answer.rows);
  }
  assert.deepEqual(rows, whole.rows, JSON.stringify(sql));
  return true;
}

test('scripts are split where PostgreSQL splits them', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(script, async (sql) => {
      if (await agrees(sql)) accepted += 1;
    }),
    { numRuns: RUNS, seed },
  );
  assert.ok(accepted > RUNS * 0.7, `PostgreSQL accepted ${accepted} of ${RUNS}`);
});

test('scripts with a character too much or too little are split where PostgreSQL splits them', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(broken, async (sql) => {
      if (await agrees(sql)) accepted += 1;
    }),
    { numRuns: RUNS, seed },
  );
  assert.ok(accepted > RUNS * 0.2, `PostgreSQL accepted ${accepted} of ${RUNS}`);
});
