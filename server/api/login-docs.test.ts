import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { isByVerb } from '#server/kernel/action-scopes.ts';
import { type AnyOperation, takesRecentSignIn } from '#server/kernel/operation.ts';
import { v1Operations } from './operations.ts';

// docs/connected-apps.md says which login a person's token needs: its table names what the operation table asks in every case.

const page = fs.readFileSync(new URL('../../docs/connected-apps.md', import.meta.url), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| '));
const named = (row: RegExp) =>
  new Set(rows.filter((line) => row.test(line)).flatMap((line) => line.match(/(?<=`)[A-Z]+ \/v1\/[^`]+/g) ?? []));
const addressOf = ({ http }: AnyOperation) => http.replace(' /', ' /v1/');

/** Those whose verb decides: the table says in words when. */
const BY_VERB = new Set(['PATCH /v1/oauth-clients/{id}']);

test('the table names every operation that takes a confirmed login in every case, and no other', () => {
  const taking = v1Operations.filter(({ step_up }) => step_up && !isByVerb(step_up)).map(addressOf);
  const written = [...named(/^\| (?:was confirmed|the same \|)/)].filter((address) => !BY_VERB.has(address));
  assert.deepEqual(written.sort(), taking.sort());
});

test('the table names every operation that takes a login of the last 12 hours, and no other', () => {
  assert.deepEqual([...named(/^\| began/)].sort(), v1Operations.filter(takesRecentSignIn).map(addressOf).sort());
});
