import assert from 'node:assert/strict';
import test from 'node:test';
import { clientDocumentUrl, clientMetadata } from '#server/domain/mcp-servers/client-document.ts';
import { ask, startGateway } from '#server/gateway/gateway.fixture.ts';
import { startWeb } from '#server/gateway/v1/web.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';

// Our description as a client of upstreams' authorization servers (draft-ietf-oauth-client-id-metadata-document), over sockets.

const API = 'https://api.sallyport.example';
await testDatabase({ SVC_GATEWAYS: '1', PUBLIC_API_URL: API, PUBLIC_ADMIN_URL: 'https://admin.sallyport.example' });
await startWeb();
const { gateway } = await startGateway();
const { port } = await gateway.listen('api', 0, '127.0.0.1');
const sandbox = await gateway.listen('sandbox', 0, '127.0.0.1');
const PATH = '/.well-known/mcp-client.json';

test('the document names the address that it is read from, holds no secret, and is on no other host', async () => {
  const answer = await ask(port, 'api', PATH, { headers: { host: new URL(API).host } });
  assert.equal(answer.status, 200, answer.body);
  assert.match(answer.headers['content-type'] ?? '', /^application\/json/);
  assert.deepEqual(answer.json(), { client_id: `${API}${PATH}`, application_type: 'web', ...clientMetadata() });
  assert.equal(clientDocumentUrl(), `${API}${PATH}`);
  assert.equal((await ask(sandbox.port, 'api', PATH, { headers: { host: '127.0.0.1' } })).status, 404);
  assert.equal((await ask(port, 'api', PATH, { method: 'POST', headers: { host: new URL(API).host } })).status, 405);
});
