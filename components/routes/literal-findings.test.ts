import assert from 'node:assert/strict';
import test from 'node:test';
import { findingsIn, replacedAt } from './literal-findings.ts';

test('a literal credential is found at any depth, and only its text is replaced', () => {
  const body = { login: { password: 'hunter2', user: 'u' }, list: ['x', 'ghp_abcdefghijklmnopqrstuvwxyz0123'], page: 2, none: null };
  assert.deepEqual(
    findingsIn(body).map(({ path, name, what }) => [path, name, what]),
    [
      [['login', 'password'], 'password', 'a credential'],
      [['list', 1], 'list', 'a GitHub token'],
    ],
  );
  const clean = replacedAt(replacedAt(body, ['login', 'password'], '{{secret:A}}'), ['list', 1], '{{secret:B}}');
  assert.deepEqual(clean, { login: { password: '{{secret:A}}', user: 'u' }, list: ['x', '{{secret:B}}'], page: 2, none: null });
  assert.equal(body.login.password, 'hunter2');
  assert.deepEqual(findingsIn(clean), []);
});
