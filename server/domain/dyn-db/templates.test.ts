import assert from 'node:assert/strict';
import test from 'node:test';
import { ENGINES } from './engines.shared.ts';
import { creationProblem, placeholdersIn, revocationProblem } from './placeholders.shared.ts';
import { BUILT_IN_TEMPLATES, builtInTemplate, DEFAULT_REVOCATION, dryRun, forUserHost, SAMPLE_VALUES } from './templates.shared.ts';

test('each engine has a template to read and one to write, which its own rules accept', () => {
  assert.deepEqual(
    BUILT_IN_TEMPLATES.map(({ name }) => name),
    ENGINES.flatMap((engine) => [`${engine}-readonly`, `${engine}-readwrite`]),
  );
  for (const { name, engine, creation, revocation } of BUILT_IN_TEMPLATES) {
    assert.equal(creationProblem(creation, engine), null, name);
    if (engine === 'mongo') assert.equal(revocation, '');
    else assert.equal(revocationProblem(revocation, engine), null, name);
  }
});

test('a template is found by its name and by its short name, for its engine only', () => {
  assert.equal(builtInTemplate('postgres-readonly', 'postgres')?.name, 'postgres-readonly');
  assert.equal(builtInTemplate('readonly', 'postgres')?.name, 'postgres-readonly');
  assert.equal(builtInTemplate('readwrite', 'mongo')?.name, 'mongo-readwrite');
  assert.equal(builtInTemplate('postgres-readonly', 'mysql'), undefined);
  assert.equal(builtInTemplate('postgres-postgres-readonly', 'postgres'), undefined);
  assert.equal(builtInTemplate('', 'postgres'), undefined);
});

test('the number of statements each template stands for', () => {
  const counts = BUILT_IN_TEMPLATES.map(({ name, creation, engine }) => [name, dryRun(creation, engine).length]);
  assert.deepEqual(Object.fromEntries(counts), {
    'postgres-readonly': 5,
    'postgres-readwrite': 5,
    'mysql-readonly': 2,
    'mysql-readwrite': 2,
    'mssql-readonly': 3,
    'mssql-readwrite': 4,
    'mongo-readonly': 1,
    'mongo-readwrite': 1,
  });
  assert.equal(dryRun(DEFAULT_REVOCATION.postgres, 'postgres').length, 2);
  assert.equal(dryRun(DEFAULT_REVOCATION.mysql, 'mysql').length, 2);
  assert.equal(dryRun(DEFAULT_REVOCATION.mssql, 'mssql').length, 4);
});

test('a dry run leaves no placeholder and names a user that does not exist', () => {
  for (const { creation, revocation, engine } of BUILT_IN_TEMPLATES) {
    const text = [creation, ...(revocation ? [revocation] : [])].flatMap((each) => dryRun(each, engine)).join('\n');
    assert.deepEqual(placeholdersIn(text), []);
    assert.ok(text.includes(SAMPLE_VALUES.username) && text.includes(SAMPLE_VALUES.password));
  }
  assert.match(dryRun('{{database}}', 'postgres', { database: 'orders' })[0] ?? '', /^orders$/);
});

test('users of MySQL come from the host of their connection, in creation and revocation', () => {
  const template = builtInTemplate('readonly', 'mysql');
  assert.ok(template);
  for (const host of ['10.1.%', 'app.example.com', '10.0.0.0/255.0.0.0', 'fe80::1', '%']) {
    for (const text of [template.creation, template.revocation]) {
      const made = forUserHost(text, host);
      assert.equal(made.split(`'{{username}}'@'${host}'`).length, 3);
      assert.ok(host === '%' || !made.includes("@'%'"));
    }
  }
  for (const host of ["%' WITH GRANT OPTION", '', '`', '\\', "a'", '$&', 'a b', 'a;b', 'x'.repeat(256)])
    assert.throws(() => forUserHost(template.creation, host));
});
