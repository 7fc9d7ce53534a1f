import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import type { SqlEngine } from './engines.shared.ts';
import { splitStatements } from './statements.shared.ts';

/** Scripts with the statements that their server would read. */
const SCRIPTS: Readonly<Record<SqlEngine, readonly [script: string, ...statements: string[]][]>> = {
  postgres: [
    ["SELECT 'a;b'; SELECT 2", "SELECT 'a;b'", 'SELECT 2'],
    ["SELECT 'it''s; here'; SELECT 2", "SELECT 'it''s; here'", 'SELECT 2'],
    ["SELECT 'back\\'; SELECT 2", "SELECT 'back\\'", 'SELECT 2'],
    ["SELECT E'back\\'; still'; SELECT 2", "SELECT E'back\\'; still'", 'SELECT 2'],
    ["SELECT e'a'\n'b\\';c'; SELECT 2", "SELECT e'a'\n'b\\';c'", 'SELECT 2'],
    ["SELECT e'a' -- ;\n 'b\\';c'; SELECT 2", "SELECT e'a' -- ;\n 'b\\';c'", 'SELECT 2'],
    ["SELECT namee'a\\'; SELECT 2", "SELECT namee'a\\'", 'SELECT 2'],
    ['SELECT U&"d;\\0061"";x"; SELECT 2', 'SELECT U&"d;\\0061"";x"', 'SELECT 2'],
    ['DO $a$ BEGIN; $b$ ; $$ END $a$; SELECT 2', 'DO $a$ BEGIN; $b$ ; $$ END $a$', 'SELECT 2'],
    ['SELECT $$;$$; SELECT $ä$;$$;$ä$', 'SELECT $$;$$', 'SELECT $ä$;$$;$ä$'],
    ['SELECT a$b$; SELECT $c$b$;$c$', 'SELECT a$b$', 'SELECT $c$b$;$c$'],
    ['SELECT $1; SELECT 1$a$;$a$', 'SELECT $1', 'SELECT 1$a$;$a$'],
    ['SELECT 1 -- ; \' "\n; SELECT 2', 'SELECT 1 -- ; \' "', 'SELECT 2'],
    ['SELECT 1 -- ; \r; SELECT 2', 'SELECT 1 -- ;', 'SELECT 2'],
    ['SELECT 1 /* ; /* ; */ ; */; SELECT 2', 'SELECT 1 /* ; /* ; */ ; */', 'SELECT 2'],
    ['SELECT 1 /*/ ; */; SELECT 2', 'SELECT 1 /*/ ; */', 'SELECT 2'],
    [
      'CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2); SELECT 3',
      'CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)',
      'SELECT 3',
    ],
    ['SELECT 1); SELECT 2', 'SELECT 1)', 'SELECT 2'],
    ['SELECT # ; SELECT `;', 'SELECT #', 'SELECT `'],
  ],
  mysql: [
    ["SELECT 'a;b'; SELECT 2", "SELECT 'a;b'", 'SELECT 2'],
    ["SELECT 'it\\'s; here'; SELECT 2", "SELECT 'it\\'s; here'", 'SELECT 2'],
    ['SELECT "a\\";b"";c"; SELECT 2', 'SELECT "a\\";b"";c"', 'SELECT 2'],
    ["SELECT 'a\\\\'; SELECT 2", "SELECT 'a\\\\'", 'SELECT 2'],
    ['SELECT `a;b``;c\\`; SELECT 2', 'SELECT `a;b``;c\\`', 'SELECT 2'],
    ["SELECT 1 # ; ' \n; SELECT 2", "SELECT 1 # ; '", 'SELECT 2'],
    ['SELECT 1 -- ; \n; SELECT 2', 'SELECT 1 -- ;', 'SELECT 2'],
    ['SELECT 1--1; SELECT 2', 'SELECT 1--1', 'SELECT 2'],
    ['SELECT 1 --', 'SELECT 1 --'],
    ['SELECT 1 /* ; /* ; */; SELECT 2', 'SELECT 1 /* ; /* ; */', 'SELECT 2'],
    ["/*!50100 SELECT ';*/' ; SELECT 1 */; SELECT 2", "/*!50100 SELECT ';*/' ; SELECT 1 */", 'SELECT 2'],
    ['/*M!100100 SELECT 1; */ ; SELECT 2', '/*M!100100 SELECT 1; */', 'SELECT 2'],
    ['SELECT $$; SELECT 2', 'SELECT $$', 'SELECT 2'],
    ['SELECT [; SELECT (1', 'SELECT [', 'SELECT (1'],
  ],
  mssql: [
    ["SELECT 'a;b'; SELECT 2", "SELECT 'a;b'", 'SELECT 2'],
    ["SELECT 'back\\'; SELECT 2", "SELECT 'back\\'", 'SELECT 2'],
    ["SELECT N'it''s; here'; SELECT 2", "SELECT N'it''s; here'", 'SELECT 2'],
    ['SELECT [a;b]];c]; SELECT 2', 'SELECT [a;b]];c]', 'SELECT 2'],
    ['SELECT [[;]; SELECT 2', 'SELECT [[;]', 'SELECT 2'],
    ['SELECT "a;"";b"; SELECT 2', 'SELECT "a;"";b"', 'SELECT 2'],
    ["SELECT 1 -- ; '\n; SELECT 2", "SELECT 1 -- ; '", 'SELECT 2'],
    ['SELECT 1 /* ; /* ; */ ; */; SELECT 2', 'SELECT 1 /* ; /* ; */ ; */', 'SELECT 2'],
    ['SELECT $$; SELECT `; SELECT #', 'SELECT $$', 'SELECT `', 'SELECT #'],
  ],
};

for (const [engine, scripts] of Object.entries(SCRIPTS) as [SqlEngine, (typeof SCRIPTS)[SqlEngine]][])
  test(`${engine}: semicolons within quotes, comments and bodies end no statement`, () => {
    for (const [script, ...statements] of scripts) assert.deepEqual(splitStatements(script, engine), { statements, problem: null }, script);
  });

test('what says nothing is no statement', () => {
  for (const engine of ENGINES)
    for (const script of ['', ' ;; \n;', '-- nothing\n;', '/* nothing; */;', ' -- nothing', '\f\v;'])
      assert.deepEqual(splitStatements(script, engine).statements, [], script);
  assert.deepEqual(splitStatements('# nothing;\n;', 'mysql').statements, []);
});

const ENGINES = Object.keys(SCRIPTS) as SqlEngine[];

/** Beginnings of what each engine can quote or comment out over several lines. */
const OPENINGS: Readonly<Record<SqlEngine, readonly string[]>> = {
  postgres: ["'", '"', "E'\\'", '$$', '$a$ $$', '/*', '/* /* */', "E'a'\n'\\'"],
  mysql: ["'", '"', '`', "'\\'", '/*', '/*!', '/*! /* */', "/*! '*/"],
  mssql: ["'", '"', '[', '[a]]', '/*', '/* /* */'],
};

test('what never ends is refused with its line, and nothing is run of it', () => {
  for (const engine of ENGINES)
    for (const opening of OPENINGS[engine]) {
      const { statements, problem } = splitStatements(`SELECT 1;\nSELECT 2;\n ${opening} ; SELECT 3`, engine);
      assert.deepEqual(statements, [], opening);
      assert.match(problem ?? '', /^the (?:quote|comment) that begins in line [34] never ends$/, opening);
    }
});

/** Ways to quote or comment out any text in an engine. */
const QUOTED: Readonly<Record<SqlEngine, readonly ((text: string) => string)[]>> = {
  postgres: [
    (text) => `'${text.replaceAll("'", "''")}'`,
    (text) => `"${text.replaceAll('"', '""')}"`,
    (text) => `E'${text.replaceAll(/[\\']/g, '\\$&')}'`,
    (text) => `$q$${text.replaceAll('$q$', '')}$q$`,
    (text) => `/*${text.replaceAll(/[/*]/g, '')}*/ x`,
    (text) => `--${text.replaceAll(/[\r\n]/g, '')}\nx`,
  ],
  mysql: [
    (text) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`,
    (text) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '""')}"`,
    (text) => `\`${text.replaceAll('`', '``')}\``,
    (text) => `/*-${text.replaceAll('*', '')}*/ x`,
    (text) => `#${text.replaceAll('\n', '')}\nx`,
    (text) => `-- ${text.replaceAll('\n', '')}\nx`,
  ],
  mssql: [
    (text) => `'${text.replaceAll("'", "''")}'`,
    (text) => `"${text.replaceAll('"', '""')}"`,
    (text) => `[${text.replaceAll(']', ']]')}]`,
    (text) => `/*${text.replaceAll(/[/*]/g, '')}*/ x`,
    (text) => `--${text.replaceAll('\n', '')}\nx`,
  ],
};

const hostile = fc.string({ unit: fc.constantFrom(...`;'"\`[]$q\\-/*#!\r\n ()eEaä`), maxLength: 12 });

test('a statement of anything quoted comes back whole, wherever its quotes contain semicolons', () => {
  for (const engine of ENGINES) {
    const statement = fc
      .array(fc.tuple(fc.nat(QUOTED[engine].length - 1), hostile), { minLength: 1, maxLength: 4 })
      .map((parts) => `x ${parts.map(([way, text]) => QUOTED[engine][way]?.(text)).join(' ')}`);
    fc.assert(
      fc.property(fc.array(statement, { minLength: 1, maxLength: 5 }), (statements) => {
        assert.deepEqual(splitStatements(statements.join(' ; '), engine), { statements, problem: null });
      }),
      { numRuns: 400 },
    );
  }
});

test('statements are parts of their script in order, and all that is left out is white space, comments and semicolons', () => {
  for (const engine of ENGINES)
    fc.assert(
      fc.property(
        hostile.chain((text) => hostile.map((more) => text + more)),
        (script) => {
          let at = 0;
          for (const statement of splitStatements(script, engine).statements) {
            at = script.indexOf(statement, at);
            assert.notEqual(at, -1);
            at += statement.length;
          }
        },
      ),
    );
});

test('a long script takes linear time', async () => {
  const parts = ["'", "E'", '$a', '$a$', '$', '/*', '*/', '--', '/*!', '[', ']]', '"', '`', '(', ';', "E'a'\n", "''", 'a$', '1$', '\\'];
  for (const engine of ENGINES)
    for (const part of parts)
      await assertGrowsLinearly(
        `${engine}: ${part}`,
        20_000,
        (size) => part.repeat(size / part.length),
        (text) => splitStatements(text, engine),
      );
});
