import assert from 'node:assert/strict';
import test from 'node:test';
import { originOf } from './client-labels.ts';

test('the settings of a client by URL are fixed with the reason, and it can still be turned off', () => {
  const row = { source_api_key_id: null, system_role: null };
  const byUrl = originOf({ ...row, client_id: 'https://client.example/oauth.json' });
  assert.equal(byUrl?.why, undefined);
  assert.match(byUrl?.fixed ?? '', /document at its address/);
  assert.equal(originOf({ ...row, client_id: 'svc_client_1' }), undefined);
});
