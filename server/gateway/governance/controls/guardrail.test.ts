import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { guardrailSignature } from '#server/crypto/guardrail-signature.ts';
import { createResolver } from '#server/platform/http-out/resolver.ts';
import { egressSettings } from '#server/platform/http-out/settings.ts';
import { createUpstreamPools } from '#server/platform/http-out/upstream-pool.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { SpaceSnapshot } from '../../snapshot/slices.ts';
import { askGuardrail, type GuardrailQuestion, guardrailBody } from './guardrail.ts';

const SECRET = 'whsec_example';
const SECRET_ID = '00000000-0000-4000-8000-00000000000a';

const question = (changes: Partial<GuardrailQuestion> = {}): GuardrailQuestion => ({
  phase: 'request',
  plane: 'ai',
  requestId: '0d5b2a9e-1f3c-4a7d-8e2b-6c9a1f4d7e35',
  gateway: null,
  user: 'alice',
  model: 'claude-sonnet-5',
  provider: 'anthropic',
  operation: 'messages',
  messages: [{ role: 'user', text: 'Hello' }],
  ...changes,
});

/** A way out that may reach this machine, or none of it. */
function runtimeOf(exempt: boolean): Runtime {
  const settings = egressSettings({ privateAllowlist: exempt ? [{ cidr: '127.0.0.0/8' }] : [], allowHttp: true });
  const resolver = createResolver({ settings });
  const secrets = { open: (_t: string, _s: string, _v: unknown, use: (bytes: Buffer) => unknown) => use(Buffer.from(SECRET)) };
  return { pools: createUpstreamPools({ resolver }), resolver, secrets } as unknown as Runtime;
}
const snapshot = {
  tenant: { id: '00000000-0000-4000-8000-000000000001' },
  space: 'live',
  sandbox: false,
  secretById: (id: string) =>
    id === SECRET_ID ? { strict: false, expiresAt: null, values: new Map([['production', { expiresAt: null }]]) } : undefined,
} as unknown as SpaceSnapshot;

async function asked(
  answer: (req: IncomingMessage, res: ServerResponse, body: string) => void,
  more: { timeout?: number; exempt?: boolean; secret?: string } = {},
) {
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => answer(req, res, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const runtime = runtimeOf(more.exempt ?? true);
  try {
    return await askGuardrail(
      runtime,
      snapshot,
      {
        id: 'agent',
        slug: 'copilot',
        guardrail_webhook_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/check`,
        guardrail_webhook_secret_id: more.secret ?? SECRET_ID,
        guardrail_webhook_timeout_ms: more.timeout ?? 60_000,
      },
      question(),
    );
  } finally {
    await runtime.pools.close();
    server.closeAllConnections();
    server.close();
  }
}

const says =
  (text: string, status = 200) =>
  (_req: IncomingMessage, res: ServerResponse) =>
    void res.writeHead(status).end(text);

test('the signature is that of the specification', () => {
  assert.equal(
    guardrailSignature(Buffer.from(SECRET), '{"type":"guardrail.check","version":1}', 1795196040),
    't=1795196040,v1=e268653832a9365981fa9315c93ded0564d80da2df1ef485e3f6fffed42b99f4',
  );
});

test('a guardrail gets the call, signed, and its verdict counts', async () => {
  let seen: Record<string, unknown> = {};
  const verdict = await asked((req, res, body) => {
    seen = JSON.parse(body);
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(req.headers['x-svc-signature'])) ?? [];
    assert.equal(v1, createHmac('sha256', SECRET).update(`${t}.${body}`).digest('hex'));
    assert.equal(req.headers['x-svc-request-id'], question().requestId);
    res.end('{"action":"block","message":"no"}');
  });
  assert.deepEqual(verdict, { action: 'block', message: 'no' });
  assert.deepEqual(
    [seen.type, seen.version, seen.phase, seen.plane, seen.agent, seen.messages, seen.truncated, seen.sandbox],
    ['guardrail.check', 1, 'request', 'ai', { id: 'agent', slug: 'copilot' }, [{ role: 'user', text: 'Hello' }], false, false],
  );
  assert.deepEqual(await asked(says('{"action":"allow"}')), { action: 'allow' });
});

test('anything but a verdict in time is a failure', async () => {
  for (const answer of [
    says('{"action":"maybe"}'),
    says('nonsense'),
    says('null'),
    says('{"action":"allow"}', 500),
    says('', 302),
    says(`{"action":"allow","x":"${'y'.repeat(70_000)}"}`),
  ])
    assert.deepEqual(await asked(answer), { action: 'failed' });
  assert.deepEqual(await asked(() => undefined, { timeout: 100 }), { action: 'failed' }, 'no answer');
  assert.deepEqual(await asked((req) => void req.socket.destroy()), { action: 'failed' }, 'a broken connection');
  assert.deepEqual(
    await asked(says('{"action":"allow"}'), { secret: '00000000-0000-4000-8000-0000000000ff' }),
    { action: 'failed' },
    'a missing secret',
  );
});

test('an address inside of the network is never asked', async () => {
  let calls = 0;
  const verdict = await asked(
    (_req, res) => {
      calls++;
      res.end('{"action":"allow"}');
    },
    { exempt: false },
  );
  assert.deepEqual([verdict.action, calls], ['failed', 0]);
});

test('long conversations are cut at the beginning, at 256 KiB', () => {
  const messages = [
    { role: 'user', text: 'old' },
    { role: 'user', text: 'é'.repeat(150_000) },
  ];
  const body = JSON.parse(guardrailBody({ id: 'a', slug: 'b' }, question({ messages }), true));
  assert.equal(body.truncated, true);
  assert.equal(body.messages.length, 1);
  assert.equal(Buffer.byteLength(body.messages[0].text), 256 * 1024);
});
