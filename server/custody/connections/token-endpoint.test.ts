import assert from 'node:assert/strict';
import test from 'node:test';
import type { Oauth2Config } from '#server/kernel/oauth2-providers.ts';
import { testDatabase } from '#server/testing/database.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { requestTokens } from './token-endpoint.ts';
import { startTokenServer } from './token-server.fixture.ts';

await testDatabase(); // with loopback open

const MOST = 64 * 1024;
const DEEP = '['.repeat(MOST / 2 - 100) + ']'.repeat(MOST / 2 - 100);
const SHAPES: Readonly<Record<string, string>> = {
  members: `{${Array.from({ length: 5_000 }, (_, i) => `"${i}":1`).join(',')}}`,
  escapes: `"${'\\u0041'.repeat(MOST / 6 - 100)}"`,
};

test('a token endpoint may answer 64 KiB, which hold nobody up, and of more nothing is believed', async () => {
  const server = await startTokenServer();
  const config = {
    ...{ token_url: server.url, client_id: 'c', scopes: [], extra_token_params: {}, token_endpoint_auth_method: 'none' },
  } as unknown as Oauth2Config;
  const ask = () => requestTokens({ tenant: 't1', space: 'live' }, config, {}, { type: 'client_credentials' });
  const answers = (more: string) => {
    server.answer = (_, res) => res.end(`{"access_token":"a","token_type":"Bearer","more":${more}}`);
  };
  for (const [shape, more] of Object.entries(SHAPES)) {
    answers(more);
    assert.equal((await neverBlocks(ask)).access_token, 'a', shape);
  }
  for (const text of [DEEP, `"${'x'.repeat(MOST)}"`, `"${'x'.repeat(50 * MOST)}"`]) {
    answers(text);
    await assert.rejects(neverBlocks(ask), { name: 'TokenFault', kind: 'invalid_response' });
  }
});
