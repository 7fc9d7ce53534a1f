import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { ENGINES, type SqlEngine } from './engines.shared.ts';
import {
  creationProblem,
  expirationText,
  fillIn,
  type PlaceholderValues,
  placeholdersIn,
  placementProblem,
  renderStatements,
  revocationProblem,
} from './placeholders.shared.ts';
import { sqlPieces } from './sql-pieces.shared.ts';
import { mintedPassword, mintedUsername } from './usernames.ts';

const SQL: readonly SqlEngine[] = ['postgres', 'mysql', 'mssql'];
const values = {
  username: 'svc_app_aaaaaaaaaa_t8aeo0',
  password: 'Aa0_--bbbb',
  expiration: '2026-11-23 18:00:00+00',
  database: 'app',
  role: 'app',
};

test('placeholders are found with their places, and {{name}} is the username', () => {
  assert.deepEqual(
    placeholdersIn('a {{username}} {{name}}{{nope}}').map(({ placeholder, text, from, to }) => [placeholder, text, from, to]),
    [
      ['username', '{{username}}', 2, 14],
      ['username', '{{name}}', 15, 23],
      [null, '{{nope}}', 23, 31],
    ],
  );
});

test('anything between two braces but a known name is refused', () => {
  for (const text of [
    '{{nope}}',
    '{{ username }}',
    '{{}}',
    '{{USERNAME}}',
    '{{{{username}}}}',
    '{{{username}}',
    '{{username}',
    '{{',
    '{{username\n}}',
    '{{__proto__}}',
    '{{constructor}}',
  ])
    for (const engine of ENGINES)
      assert.match(
        creationProblem(`x "{{username}}" '{{password}}' ${text}`, engine) ?? '',
        /^contains the unknown placeholder \{\{/,
        `${engine} ${text}`,
      );
});

test('a creation needs the username and the password, a revocation the username and never the password', () => {
  for (const engine of SQL) {
    assert.equal(creationProblem("CREATE {{name}} '{{password}}'", engine), null);
    assert.equal(creationProblem("CREATE '{{password}}'", engine), 'must contain {{username}}');
    assert.equal(creationProblem('CREATE {{username}}', engine), 'must contain {{password}}');
    assert.equal(revocationProblem('DROP {{name}}', engine), null);
    assert.equal(revocationProblem('DROP ALL', engine), 'must contain {{username}}');
    assert.match(revocationProblem("DROP {{name}} '{{password}}'", engine) ?? '', /^can't contain \{\{password\}\}/);
    assert.equal(revocationProblem('-- {{username}}', engine), 'contains no statement');
    assert.match(creationProblem("CREATE {{name}} '{{password}}", engine) ?? '', /^the quote that begins in line 1 never ends/);
  }
  assert.match(revocationProblem('DROP {{username}}', 'mongo') ?? '', /^must be absent/);
});

/** Where a password would be read as code, by engine. */
const BARE: Readonly<Record<SqlEngine, readonly string[]>> = {
  postgres: ['{{password}}', "''{{password}}''", "E'\\''{{password}}''", '$a$'.concat('{{password}}'), '`{{password}}`', '[{{password}}]'],
  mysql: ['{{password}}', "''{{password}}''", '$$ {{password}} $$', '[{{password}}]', '/*! {{password}} */'],
  mssql: ['{{password}}', "''{{password}}''", '$$ {{password}} $$', '`{{password}}`', "'\\'{{password}}''"],
};

test('a password that would be code is refused', () => {
  for (const engine of SQL)
    for (const bare of BARE[engine]) {
      const problem = creationProblem(`CREATE "{{username}}" ${bare}`, engine);
      assert.match(problem ?? '', /^must have \{\{password\}\} in quotes$|never ends$/, `${engine} ${bare}`);
    }
  for (const engine of SQL)
    assert.equal(creationProblem("CREATE {{username}} '{{password}}' {{expiration}}", engine), 'must have {{expiration}} in quotes');
});

test('a name with two hyphens is filled in within quotes only', () => {
  for (const engine of SQL) {
    const names = { ...values, database: 'a--b', role: 'r--s' };
    assert.equal(
      placementProblem('USE {{database}}', engine, names),
      'must have {{database}} in quotes, since its value contains two hyphens',
    );
    assert.equal(placementProblem('USE {{role}}', engine, names), 'must have {{role}} in quotes, since its value contains two hyphens');
    assert.equal(placementProblem('USE "{{database}}" /* {{role}} */', engine, names), null);
    assert.equal(placementProblem('USE {{database}}', engine, values), null);
    assert.throws(() => renderStatements('USE {{database}}', engine, names), /two hyphens/);
  }
});

test('a value that could leave its quotes is never filled in', () => {
  const hostile = ["'", '"', '`', ']', '\\', ';', '$$', '/*', '*/', '#', '\n', '\0', ' ', '{{password}}', 'ä', '％', ''];
  for (const [placeholder, value] of Object.entries(values))
    for (const bad of hostile) {
      // The space is a part of an expiration, in its place.
      const changed = bad === '' ? '' : value + bad;
      assert.throws(() => fillIn(`'{{${placeholder}}}'`, { ...values, [placeholder]: changed }, 'postgres'), /safe to fill in/, changed);
    }
  assert.throws(() => fillIn("'{{password}}'", { username: 'x' }, 'postgres'), /\{\{password\}\} has no value/);
});

const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
const minted = fc
  .tuple(fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,20}$/), name, fc.date({ min: new Date(0), max: new Date(8e12), noInvalidDate: true }))
  .map(
    ([role, database, date]): Required<PlaceholderValues> => ({
      username: mintedUsername(role, date),
      password: mintedPassword(),
      expiration: expirationText(date),
      database,
      role,
    }),
  );
const QUOTES: Readonly<Record<SqlEngine, readonly (readonly [string, string])[]>> = {
  postgres: [
    ["'", "'"],
    ['"', '"'],
    ["E'", "'"],
    ['$a$', '$a$'],
    ["E'\\'", "'"],
    ["''''||'", "'"],
  ],
  mysql: [
    ["'", "'"],
    ['"', '"'],
    ['`', '`'],
    ["'\\'", "'"],
  ],
  mssql: [
    ["'", "'"],
    ['"', '"'],
    ['[', ']'],
    ["N'''", "'"],
  ],
};

test('a rendered value never leaves its quotes: the script has the same pieces before and after', () => {
  for (const engine of SQL) {
    const quoted = fc
      .tuple(
        fc.constantFrom(...QUOTES[engine]),
        fc.constantFrom('username', 'name', 'password', 'expiration', 'database', 'role'),
        fc.constantFrom('', ';', '--', '/*', ' x '),
      )
      .map(([[open, close], placeholder, beside]) => `${open}${beside}{{${placeholder}}}${close}`);
    fc.assert(
      fc.property(fc.array(quoted, { minLength: 1, maxLength: 6 }), minted, (parts, filled) => {
        const script = `SELECT ${parts.join(', ')}; SELECT 2`;
        const before = sqlPieces(script, engine);
        const after = sqlPieces(fillIn(script, filled, engine), engine);
        assert.deepEqual(
          after.pieces.map(({ kind }) => kind),
          before.pieces.map(({ kind }) => kind),
        );
        assert.equal(renderStatements(script, engine, filled).length, 2);
      }),
      { numRuns: 300 },
    );
  }
});

test('a value is never read again', () => {
  // No value can contain braces; what stands around one can't make a placeholder with it either.
  assert.equal(fillIn("'{ {{username}} }' {{role}}", { ...values, username: 'password', role: 'name' }, 'postgres'), "'{ password }' name");
});

test('the database of a MySQL grant is a name, not a pattern', () => {
  const at = (text: string) => fillIn(text, { ...values, database: 'a_b_c' }, 'mysql');
  assert.equal(at('GRANT SELECT ON `{{database}}`.* TO x'), 'GRANT SELECT ON `a\\_b\\_c`.* TO x');
  assert.equal(at('REVOKE ALL\non\n`{{database}}`.* FROM x'), 'REVOKE ALL\non\n`a\\_b\\_c`.* FROM x');
  assert.equal(at('USE `{{database}}`'), 'USE `a_b_c`');
  assert.equal(at('SELECT * FROM `{{database}}`.t'), 'SELECT * FROM `a_b_c`.t');
  assert.equal(fillIn('GRANT ALL ON `{{database}}`.x', { ...values, database: 'a_b' }, 'postgres'), 'GRANT ALL ON `a_b`.x');
});

test('finding placeholders takes linear time', async () => {
  for (const part of ['{', '{{', '{{a', '}}', '{{username}}', '{{username', 'ON `{{database}}`.', "'{{password}}'"])
    for (const engine of ENGINES)
      await assertGrowsLinearly(
        `${engine}: ${part}`,
        20_000,
        (size) => part.repeat(size / part.length),
        (text) => creationProblem(text, engine),
      );
});

test('a moment is written in UTC to the second', () => {
  assert.equal(expirationText(new Date('2026-11-23T19:04:05.999+01:00')), '2026-11-23 18:04:05+00');
});

test('statements that begin or end transactions are refused, whatever is written around them', () => {
  const refused: Record<SqlEngine, string[]> = {
    postgres: [
      'BEGIN',
      'start  transaction',
      'COMMIT AND CHAIN',
      'END',
      'ABORT',
      'ROLLBACK',
      '/* a */ -- b\n commit',
      "PREPARE TRANSACTION 'x'",
    ],
    mysql: [
      'BEGIN',
      'START TRANSACTION READ WRITE',
      '# a\ncommit',
      'ROLLBACK',
      "XA START 'x'",
      'SET autocommit = 0',
      'SET @@session.autocommit=0',
      '/*!50000 COMMIT */',
    ],
    mssql: ['BEGIN TRAN', 'begin distributed transaction', 'COMMIT', 'ROLLBACK TRANSACTION', 'SET IMPLICIT_TRANSACTIONS ON'],
  };
  const taken: Record<SqlEngine, string[]> = {
    postgres: [
      'SAVEPOINT a',
      'ROLLBACK TO a',
      'ROLLBACK TRANSACTION TO SAVEPOINT a',
      'DO $$ BEGIN COMMIT; END $$',
      '"commit"',
      'SELECT 1 -- COMMIT',
      'BEGINNING',
    ],
    mysql: ['ROLLBACK TO a', "SELECT 'COMMIT'", '`begin`', 'SET SESSION sql_mode = 1', 'SET autocommitted = 1'],
    mssql: ['BEGIN SELECT 1 END', 'SAVE TRANSACTION a', '[COMMIT]', 'IF 1 = 1 SELECT 1'],
  };
  const make = "CREATE USER '{{username}}' '{{password}}'";
  for (const engine of SQL) {
    for (const statement of refused[engine])
      for (const script of [`${statement}; ${make}`, `${make};\n${statement}\n;`]) {
        assert.match(creationProblem(script, engine) ?? '', /^can't contain [A-Z_ @.]+: .*Leave it out$/, `${engine} ${script}`);
        assert.match(revocationProblem(`DROP USER '{{username}}';${statement}`, engine) ?? '', /^can't contain/, `${engine} ${script}`);
      }
    for (const statement of taken[engine]) assert.equal(creationProblem(`${statement}; ${make}`, engine), null, `${engine} ${statement}`);
  }
});
