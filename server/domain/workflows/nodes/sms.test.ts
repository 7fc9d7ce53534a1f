import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { definitionOf, ended, started, stored, working } from '../engine/running.fixture.ts';

const seen: { body: string; key: string }[] = [];
let status = 202;
const port = await listen(
  createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    seen.push({ body: Buffer.concat(chunks).toString(), key: String(req.headers['idempotency-key']) });
    res.writeHead(status).end();
  }),
);
process.env.SMS_PROVIDER_URL = `http://127.0.0.1:${port}/send`;
await ownDatabase();
working();

test('a text message is handed to the provider with a key, and in Test it is not sent', async () => {
  const w = await workspace();
  const definition = definitionOf({ s: ['sms', { to: '+49 (170) 123-4567', text: 'n={{trigger.data.n}}' }] }, ['trigger>s']);
  const run = async (ctx: typeof w.live) => ended(await started(ctx, await stored(ctx, definition), { n: 3 }));
  const execution = await run(w.live);
  assert.deepEqual([execution.status, execution.error_message], ['completed', null]);
  const { to, text } = JSON.parse(seen[0]?.body ?? '{}') as Record<string, string>;
  assert.deepEqual([to, text, seen[0]?.key], ['+491701234567', 'n=3', `wf_${execution.id}_s_0`]);
  assert.deepEqual([(await run(w.test)).status, seen.length], ['completed', 1]);
  status = 500;
  assert.deepEqual([(await run(w.live)).error_code, seen.length], ['http_status', 2]);
});
