import assert from 'node:assert/strict';
import test from 'node:test';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fold } from './fold.ts';

await testDatabase();

test('memory and database fold every character to the same one', async () => {
  // Node may know a later version of Unicode, with characters that the database leaves as they are.
  const { rows } = await sql().query<{ code: number; folded: string | null }>(
    `select code, case when unicode_assigned(chr(code)) then scim_fold(chr(code)) end as folded from generate_series(1, 131071) code
      where code not between 55296 and 57343 and (scim_fold(chr(code)) <> chr(code) or not unicode_assigned(chr(code)))`,
  );
  const inDatabase = new Map(rows.map(({ code, folded }) => [code, folded]));
  assert.ok(rows.filter(({ folded }) => folded !== null).length > 1_400);
  const differing: string[] = [];
  for (let code = 1; code < 0x20000; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    const expected = inDatabase.get(code) ?? character;
    if (inDatabase.get(code) === null) continue;
    if (fold(character) !== expected) differing.push(`U+${code.toString(16)}: ${fold(character)}, database ${expected}`);
  }
  assert.deepEqual(differing, []);
});

test('folding ignores case and composition, and nothing else', async () => {
  const pairs: [string, string, boolean][] = [
    ['ANN@acme.com', 'ann@ACME.com', true],
    ['Ä', 'a\u0308', true],
    ['STRASSE', 'straße', false],
    ['ẞ', 'ß', true],
    ['ΣΑΣ', 'σας', true],
    ['I', 'ı', false],
    ['\u212a', 'k', true],
    ['é', 'e', false],
  ];
  for (const [a, b, same] of pairs) {
    assert.equal(fold(a) === fold(b), same, `${a} ${b}`);
    const { rows } = await sql().query<{ same: boolean }>('select scim_fold($1) = scim_fold($2) as same', [a, b]);
    assert.equal(rows[0]?.same, same, `${a} ${b} in the database`);
  }
});
