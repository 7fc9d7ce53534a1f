import assert from 'node:assert/strict';
import test from 'node:test';
import { CreateMessageResultSchema, ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startGateway } from '../gateway.fixture.ts';
import { makeMcp, textOf } from './mcp.fixture.ts';
import { startLegacyUpstream } from './upstreams.fixture.ts';

await testDatabase();
const running = await startGateway();

const SAMPLING = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 },
};
const ELICITATION = { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } } };

type Extra = { sendRequest(request: object, schema: object): Promise<unknown> };

test('a tool that asks for sampling or input is refused, on the stream of its call and on that of its session', async () => {
  const upstream = await startLegacyUpstream({
    more(server) {
      const add = (name: string, ask: (extra: Extra) => Promise<unknown>) =>
        server.registerTool(name, { inputSchema: {} }, async (_: unknown, extra: unknown) => {
          const text = await ask(extra as Extra).then(
            () => 'answered',
            (error: Error) => error.message,
          );
          return { content: [{ type: 'text' as const, text }] };
        });
      add('sampling_of_call', (extra) => extra.sendRequest(SAMPLING, CreateMessageResultSchema));
      add('input_of_call', (extra) => extra.sendRequest(ELICITATION, ElicitResultSchema));
      add('sampling_of_session', () => server.server.request(SAMPLING as never, CreateMessageResultSchema));
      add('input_of_session', () => server.server.request(ELICITATION as never, ElicitResultSchema));
    },
  });
  const w = await workspace();
  const names = ['sampling_of_call', 'input_of_call', 'sampling_of_session', 'input_of_session'];
  const { client: c } = await makeMcp(running, w, upstream.url, { allowed_tools: names });
  await c.begin();
  const refused = 'MCP error -32601: This client accepts no requests.';
  for (const name of names) {
    const calls = [c.call(name), c.call(name), c.modern('tools/call', { name, arguments: {} })];
    for (const answer of await Promise.all(calls)) assert.equal(textOf(answer), refused, `${name}: ${answer.body}`);
  }
});
