import assert from 'node:assert/strict';
import test from 'node:test';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import {
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  selectResourceURL,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startGateway } from '../gateway.fixture.ts';
import { doorTo } from './door.fixture.ts';
import { startEverything } from './everything.fixture.ts';
import { makeMcp } from './mcp.fixture.ts';
import { startLegacyUpstream, startModernUpstream } from './upstreams.fixture.ts';

// The official clients, unmodified but for URL and token.

await testDatabase();
const running = await startGateway();

type Connected = { listTools(): Promise<{ tools: { name: string }[] }>; callTool(params: object): Promise<object>; close(): Promise<void> };

const connect = {
  'the client of 1.x': async (url: URL, token: string): Promise<Connected> => {
    const client = new LegacyClient({ name: 'one', version: '1' });
    await client.connect(new LegacyTransport(url, { requestInit: { headers: { Authorization: `Bearer ${token}` } } }) as never);
    return client as never;
  },
  'the client of 2.x': async (url: URL, token: string): Promise<Connected> => {
    const client = new ModernClient({ name: 'two', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new ModernTransport(url, { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
    return client as never;
  },
};

test('both official clients list and call tools of official servers of both eras', async () => {
  for (const upstream of [await startLegacyUpstream(), await startModernUpstream()]) {
    const w = await workspace();
    const { token } = await makeMcp(running, w, upstream.url);
    const url = new URL(`${await doorTo(running, w.tenant.slug)}/v1/mcp/vendor`);
    for (const [name, open] of Object.entries(connect)) {
      const client = await open(url, token.text);
      assert.deepEqual(
        (await client.listTools()).tools.map((tool) => tool.name),
        ['echo', 'fail', 'sum'],
        name,
      );
      const sum = await client.callTool({ name: 'sum', arguments: { a: 2, b: 3 } });
      assert.deepEqual((sum as { structuredContent: object }).structuredContent, { sum: 5 }, name);
      const failed = await client.callTool({ name: 'fail', arguments: {} });
      assert.equal((failed as { isError: boolean }).isError, true, name);
      await client.close();
    }
  }
});

test('the reference server with everything is called through the gateway, progress included', async () => {
  const upstream = await startEverything('streamableHttp');
  const w = await workspace();
  const { token } = await makeMcp(running, w, upstream, {
    allowed_tools: ['echo', 'get-sum', 'trigger-long-running-operation', 'get-tiny-image'],
  });
  const url = new URL(`${await doorTo(running, w.tenant.slug)}/v1/mcp/vendor`);
  const client = new LegacyClient({ name: 'one', version: '1' });
  await client.connect(new LegacyTransport(url, { requestInit: { headers: { Authorization: `Bearer ${token.text}` } } }) as never);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['echo', 'get-sum', 'get-tiny-image', 'trigger-long-running-operation'],
  );
  const echo = await client.callTool({ name: 'echo', arguments: { message: 'through' } });
  assert.match(JSON.stringify(echo), /Echo: through/);
  const image = (await client.callTool({ name: 'get-tiny-image', arguments: {} })) as { content: { type: string }[] };
  assert.ok(image.content.some(({ type }) => type === 'image'));
  const progress: number[] = [];
  await client.callTool({ name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } }, undefined, {
    onprogress: (told) => void progress.push(told.progress),
  });
  assert.deepEqual(progress, [1, 2, 3]);
  await client.close();
});

test('a client without a token finds the metadata by the challenge, and its resource is the URL that it has dialed', async () => {
  const w = await workspace();
  const upstream = await startModernUpstream();
  await makeMcp(running, w, upstream.url);
  const door = await doorTo(running, w.tenant.slug);
  const answer = await fetch(`${door}/v1/mcp/vendor`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
  assert.equal(answer.status, 401);
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(answer);
  assert.equal(scope, 'mcp:tools');
  const connectUrl = new URL(String(resourceMetadataUrl).replace('/.well-known/oauth-protected-resource', ''));
  // The public address of a workspace is not the one that a test listens on.
  const local = (url: string | URL, init?: RequestInit) => fetch(`${door}${new URL(url).pathname.replace(/^\/p\/[^/]+/, '')}`, init);
  const metadata = await discoverOAuthProtectedResourceMetadata(
    connectUrl,
    { resourceMetadataUrl: resourceMetadataUrl as URL },
    local as typeof fetch,
  );
  assert.equal(metadata.resource, connectUrl.href);
  const selected = await selectResourceURL(connectUrl, {} as never, metadata);
  assert.equal(selected?.href, connectUrl.href);
});
