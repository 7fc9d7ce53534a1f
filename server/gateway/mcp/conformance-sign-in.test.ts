import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createServer as createPlain } from 'node:net';
import test from 'node:test';
import { decide, pageOf } from '#server/auth/logins.fixture.ts';
import { startDocuments } from '#server/domain/oauth-grants/client-documents.fixture.ts';
import { held } from '#server/domain/oauth-grants/client-documents.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import { createTestPerson } from '#server/testing/test-person.ts';
import { served } from '../gateway.fixture.ts';
import { startApi } from './api-door.fixture.ts';
import { makeGateway, makeServer } from './mcp.fixture.ts';
import { startLegacyUpstream } from './upstreams.fixture.ts';

// The official suite's scenarios for authorization servers, with a client that is known by the address of its document alone. A person signs in and consents
// as the test's session.

const { api: API, running } = await startApi();
const documents = await startDocuments();
held.source = documents.source();

test('the authorization server passes the official scenarios for a client that is known by its address', { timeout: 120_000 }, async () => {
  const upstream = await startLegacyUpstream();
  const who = await createTestPerson({ signedIn: true });
  await makeServer(who.w, await makeGateway(who.w), 'vendor', { upstream_url: upstream.url, allowed_tools: ['echo'] });
  await served(running, who.w);
  documents.documents.set('/suite.json', documents.document('/suite.json', { client_name: 'Suite' }));
  const resource = `${proxyUrl(who.w.tenant.slug, 'live')}/v1/mcp/vendor`;
  const args = ['--url', API, '--client-id', `${documents.origin}/suite.json`, '--resource', resource, '--port', String(await freePort())];
  const { code, text } = await run(args, async (address) => {
    const opened = await fetch(address, { redirect: 'manual' });
    assert.equal(opened.status, 302, await opened.text());
    const handle = String(opened.headers.get('location')).split('/consent/')[1] as string;
    assert.equal((await pageOf(who.b, handle)).state, 'ask');
    assert.equal((await fetch(await decide(who.b, handle, { decision: 'allow' }))).status, 200);
  });
  assert.equal(code, 0, text.slice(-4_000));
  assert.match(text, /authorization-code-grant: 1 passed, 0 failed/);
  assert.match(text, /authorization-server-metadata-endpoint: [12] passed, 0 failed/);
});

/** Runs the suite; `consent` is given the address that a person would open. */
function run(args: readonly string[], consent: (address: string) => Promise<void>): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['node_modules/@modelcontextprotocol/conformance/dist/index.js', 'authorization', ...args]);
    let text = '';
    let opened = false;
    const hear = (chunk: Buffer) => {
      text += chunk;
      const [, address] = /^(http:\/\/\S+response_type=\S+)\n/m.exec(text) ?? [];
      if (opened || address === undefined) return;
      opened = true;
      consent(address).catch((error: unknown) => {
        child.kill();
        reject(error);
      });
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('close', (code) => resolve({ code, text }));
  });
}

async function freePort(): Promise<number> {
  const server = createPlain();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
