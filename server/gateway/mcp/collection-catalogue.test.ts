import assert from 'node:assert/strict';
import test from 'node:test';
import type { ClientInfo } from '#server/mcp/upstream/modern.ts';
import type { Runtime } from '../core/runtime.ts';
import type { McpServer } from '../snapshot/mcp-servers.ts';
import { catalogueOf } from './catalogue.ts';
import type { McpCall } from './mcp-call.ts';

test('the tools of a collection are read once, and again when that failed', async () => {
  let fails = true;
  const inputSchema = {
    type: 'object',
    get properties() {
      if (fails) throw new Error('this time');
      return {};
    },
  };
  const server = { type: 'collection', tools: new Map([['t', { operation: {}, description: null, inputSchema }]]) };
  // Of a call and of the gateway's state a collection needs nothing.
  const read = () => catalogueOf({} as McpCall, {} as Runtime, server as unknown as McpServer, {} as ClientInfo);
  for (let i = 0; i < 2; i++) await assert.rejects(Promise.all([read(), read()]), /this time/);
  fails = false;
  const catalogue = await read();
  assert.deepEqual('has' in catalogue && [...catalogue.keys()], ['t']);
  assert.equal(await read(), catalogue);
});
