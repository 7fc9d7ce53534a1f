import assert from 'node:assert/strict';
import test from 'node:test';
import { capabilitiesOf } from '#server/kernel/needs.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { operations } from './operations.ts';

await testDatabase();

const JSON_HEADERS = { 'content-type': 'application/json' };

test('the order of checks: of two adjacent faults in one request the earlier one answers', async () => {
  const w = await workspace();
  const good = await w.key('live');
  const readOnly = await w.key('live', 'Key - Read-only');
  const fromElsewhere = await w.key('live', 'Key - Read-only', { ip_allowlist: ['203.0.113.7'] });
  const metered = await w.key('live', 'Key - Read-only', { rate_limit_requests: 1, rate_limit_window_sec: 86_400 });
  await call('GET', '/environments', { key: metered.text });
  const inactive = await workspace({ status: 'past_due' });
  const inactiveKey = await inactive.key('live');
  const inactiveElsewhere = await inactive.key('live', 'Key - Editor', { ip_allowlist: ['203.0.113.7'] });
  const oauthOnly = await workspace();
  await db().tenants.update({ where: { id: oauthOnly.tenant.id }, data: { settings: { legacy_key_auth: 'disabled' } } });
  const oauthOnlyKey = await oauthOnly.key('live');
  const unknown = good.text.replace(/^tk_live_/, 'tk_live_').slice(0, -1) + (good.text.endsWith('a') ? 'b' : 'a');
  const big = `{"name":"${'x'.repeat(1024 * 1024)}"}`;

  const table: [string, Promise<{ status: number; body: { error: { type: string } } }>, number, string][] = [
    ['unknown path before body size', call('POST', '/nothing', { raw: big }), 404, 'not_found'],
    ['unknown method before body size', call('PUT', '/environments', { raw: big }), 405, 'method_not_allowed'],
    [
      'body size before version',
      call('POST', '/environments', { raw: big, headers: { 'service-version': 'x' } }),
      413,
      'payload_too_large',
    ],
    [
      'version before credential',
      call('GET', '/environments', { headers: { 'service-version': '2026-02-30' } }),
      400,
      'invalid_api_version',
    ],
    [
      'missing credential before anything about it',
      call('POST', '/environments', { headers: { 'idempotency-key': '' } }),
      401,
      'authentication_required',
    ],
    ['invalid credential before its space', call('GET', '/environments', { key: unknown, space: 'test' }), 401, 'invalid_api_key'],
    ['space before source address', call('GET', '/environments', { key: fromElsewhere.text, space: 'test' }), 403, 'wrong_key_type'],
    ['source address before subscription', call('GET', '/environments', { key: inactiveElsewhere.text }), 403, 'forbidden'],
    [
      'subscription before everything of the request',
      call('POST', '/environments', { key: inactiveKey.text, raw: '{', headers: { 'idempotency-key': 'a b' } }),
      403,
      'subscription_inactive',
    ],
    [
      'rate limit before idempotency syntax',
      call('POST', '/environments', { key: metered.text, raw: '{}', headers: { 'idempotency-key': 'a b' } }),
      429,
      'rate_limit_exceeded',
    ],
    [
      'use_oauth before idempotency syntax',
      call('POST', '/environments', { key: oauthOnlyKey.text, headers: { 'idempotency-key': 'a b' } }),
      403,
      'use_oauth',
    ],
    [
      'idempotency syntax before capability',
      call('POST', '/environments', { key: readOnly.text, headers: { 'idempotency-key': 'a b' } }),
      400,
      'invalid_idempotency_key',
    ],
    [
      'capability before validation',
      call('POST', '/environments', { key: readOnly.text, raw: '{"name":1}', headers: { 'idempotency-key': 'k1' } }),
      403,
      'forbidden',
    ],
    [
      'media type before validation',
      call('POST', '/environments', { key: good.text, raw: 'x', headers: { 'content-type': 'text/plain' } }),
      415,
      'unsupported_media_type',
    ],
    [
      'validation before the row',
      call('PATCH', `/environments/${crypto.randomUUID()}`, { key: good.text, body: { nothing: 1 } }),
      400,
      'validation_error',
    ],
  ];
  for (const [name, answer, status, type] of table) {
    const { status: got, body } = await answer;
    assert.deepEqual([got, body.error.type], [status, type], name);
  }
});

test('a request that the front door found too large is refused for it once its path and method are known, whoever sent it', async () => {
  const { handle } = await import('./handle.ts');
  const ask = async (method: string, path: string, fault: 'headers_too_large' | 'payload_too_large') => {
    const edge = { space: 'live', ip: null, request_id: crypto.randomUUID(), user_agent: null, fault } as const;
    const answer = await handle(new Request(`http://api.test/v1${path}`, { method }), edge);
    return [answer.status, ((await answer.json()) as { error: { type: string } }).error.type];
  };
  for (const [fault, status] of [
    ['headers_too_large', 431],
    ['payload_too_large', 413],
  ] as const) {
    assert.deepEqual(await ask('POST', '/nothing', fault), [404, 'not_found']);
    assert.deepEqual(await ask('PUT', '/environments', fault), [405, 'method_not_allowed']);
    for (const op of operations.filter((o) => !o.http.includes(' /admin/') && !o.http.includes(' /auth/'))) {
      const [method, path] = op.http.split(' ') as [string, string];
      assert.deepEqual(await ask(method, path.replace(/\{\w+\}/g, 'x'), fault), [status, fault], op.id);
    }
  }
});

test('every answer carries one request id in header and body, and failures have exactly three members', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const created = await call('POST', '/environments', { key, body: { name: 'one' } });
  const answers = [
    created,
    await call('GET', '/environments', { key }),
    await call('POST', '/environments', { key, body: { name: 'one' } }),
    await call('GET', '/environments'),
    await call('GET', '/nothing', { key }),
    await call('DELETE', '/environments', { key }),
    await call('GET', `/environments/${crypto.randomUUID()}`, { key }),
    await call('POST', '/environments', { key, raw: '[1]', headers: JSON_HEADERS }),
    await call('DELETE', `/environments/${created.body.data.id}`, { key }),
  ];
  assert.deepEqual(
    answers.map((a) => a.status),
    [201, 200, 409, 401, 404, 405, 404, 400, 200],
  );
  for (const { body, headers, status } of answers) {
    const id = status < 300 ? body.meta.request_id : body.error.request_id;
    assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.equal(headers.get('x-request-id'), id);
    assert.equal(headers.get('service-version'), '2026-08-05');
    assert.equal(headers.get('cache-control'), 'no-store');
    if (status >= 400)
      assert.deepEqual([Object.keys(body), Object.keys(body.error).sort()], [['error'], ['message', 'request_id', 'type']]);
  }
  assert.deepEqual(answers.at(-1)?.body.data, { deleted: true });
  assert.match(answers[3]?.headers.get('www-authenticate') ?? '', /^Bearer realm="api"$/);
  assert.equal(answers[5]?.headers.get('allow'), 'GET, HEAD, POST');
});

test('malformed, unknown, revoked, expired and wrong-checksum keys get byte-equal answers but for the request id', async () => {
  const w = await workspace();
  const revoked = await w.key('live', 'Key - Editor', { active: false });
  const expired = await w.key('live', 'Key - Editor', { expires_at: new Date(Date.now() - 1000) });
  const rotatedAway = await w.key('live', 'Key - Editor', { revoke_at: new Date(Date.now() - 1000) });
  const { mintApiKey } = await import('#server/crypto/tokens.ts');
  const flipped = `${revoked.text.slice(0, -1)}${revoked.text.endsWith('Z') ? 'Y' : 'Z'}`;
  const answers = await Promise.all(
    [revoked.text, expired.text, rotatedAway.text, mintApiKey('live').token, flipped, 'nonsense', 'tk_live_'].map((key) =>
      call('GET', '/environments', { key }),
    ),
  );
  const seen = new Set(
    answers.map(
      (a) =>
        `${a.status} ${a.text.replace(a.body.error.request_id, '')} ${JSON.stringify([...a.headers].filter(([k]) => k !== 'x-request-id'))}`,
    ),
  );
  assert.equal(seen.size, 1, [...seen].join('\n'));
  assert.match([...seen][0] ?? '', /^401 .*invalid_api_key/);
});

test('two different credentials are refused, the same one twice is fine, and none is read from the query', async () => {
  const w = await workspace();
  const [a, b] = [await w.key('live'), await w.key('live')];
  assert.equal((await call('GET', '/environments', { key: a.text, headers: { 'x-api-key': b.text } })).body.error.type, 'invalid_request');
  assert.equal((await call('GET', '/environments', { key: a.text, headers: { 'x-api-key': a.text } })).status, 200);
  assert.equal((await call('GET', '/environments', { headers: { 'x-api-key': a.text } })).status, 200);
  assert.equal((await call('GET', `/environments?api_key=${a.text}`)).status, 401);
  // DPoP is for tokens bound to a proof: a key under it is under the wrong scheme.
  const dpop = await call('GET', '/environments', { headers: { authorization: `DPoP ${a.text}` } });
  assert.deepEqual([dpop.status, dpop.body.error.type], [401, 'invalid_api_key']);
  // A scheme that is none of ours is a second credential all the same.
  for (const authorization of ['Basic YTpi', 'Bearer', `Token ${a.text}`]) {
    const both = await call('GET', '/environments', { headers: { authorization, 'x-api-key': a.text } });
    assert.deepEqual([both.status, both.body.error.type], [400, 'invalid_request'], authorization);
  }
});

test('a header without a value carries no credential', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const empty: Record<string, string>[] = [{ authorization: '' }, { 'x-api-key': '' }, { authorization: '  ', 'x-api-key': '' }];
  for (const headers of empty)
    assert.equal((await call('GET', '/environments', { headers })).body.error.type, 'authentication_required', JSON.stringify(headers));
  assert.equal((await call('GET', '/environments', { headers: { authorization: '', 'x-api-key': key } })).status, 200);
  assert.equal((await call('GET', '/environments', { key, headers: { 'x-api-key': '' } })).status, 200);
});

test('a path that names nothing is 404 at any length, and never 400 or 500', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  for (const id of ['x', '0'.repeat(36), 'a'.repeat(201), 'a'.repeat(8_000), '%F0%9F%92%A3', "'%20or%201=1--", '%25', '-1', 'null'])
    for (const path of [
      `/routes/${id}`,
      `/environments/${id}`,
      `/clients/${id}`,
      `/secrets/${id}`,
      `/collections/${id}`,
      `/routes/${id}/logs`,
    ]) {
      const answer = await call('GET', path, { key });
      assert.deepEqual([answer.status, answer.body.error.type], [404, 'not_found'], path.slice(0, 60));
    }
});

test('query parameters nobody knows are ignored, also those named like members of every object; one given twice is refused', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  for (const query of ['constructor=1', 'toString=1&valueOf=2&hasOwnProperty=3', '__proto__=1&__proto__[page]=2', 'unknown=1'])
    assert.equal((await call('GET', `/routes?${query}`, { key })).status, 200, query);
  const twice = await call('GET', '/routes?page=1&page=2', { key });
  assert.deepEqual([twice.status, twice.body.error.type], [400, 'validation_error']);
});

test('a key limit counts in fixed windows and says so in three headers', async () => {
  const { countAgainstLimit } = await import('./rate-limit.ts');
  const { memoryCounter } = await import('#server/platform/window-counter.ts');
  const count = memoryCounter();
  const at = new Date(1_767_225_605_000);
  const limit = { id: 'k', requests: 3, window_sec: 60 };
  const answers = [];
  for (let i = 0; i < 4; i++) answers.push(await countAgainstLimit(limit, at, count));
  assert.deepEqual(
    answers.map((a) => a.headers['x-ratelimit-remaining']),
    ['2', '1', '0', '0'],
  );
  assert.equal(answers[3]?.headers['x-ratelimit-reset'], '1767225660');
  assert.equal(answers[3]?.refusal?.retryAfter, 55);
  assert.equal((await countAgainstLimit(limit, new Date(1_767_225_660_000), count)).refusal, null, 'the next window starts anew');
});

test('what a key limit refused is not held against the key when the limit is raised', async () => {
  const { countAgainstLimit } = await import('./rate-limit.ts');
  const { memoryCounter, postgresCounter } = await import('#server/platform/window-counter.ts');
  const at = new Date(1_767_225_605_000);
  for (const count of [memoryCounter(), postgresCounter]) {
    const asked = (requests: number) => countAgainstLimit({ id: 'raised', requests, window_sec: 60 }, at, count);
    for (let i = 0; i < 20; i++) await asked(3);
    assert.equal((await asked(10)).headers['x-ratelimit-remaining'], '5', 'three were served and one refusal counts');
    for (let i = 0; i < 5; i++) await asked(2);
    assert.equal((await asked(10)).headers['x-ratelimit-remaining'], '4', 'a lower limit forgets nothing');
  }
});

test('HEAD answers as GET without a body, OPTIONS grants nothing to browsers', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const head = await call('HEAD', '/environments', { key });
  assert.deepEqual([head.status, head.text], [200, '']);
  const options = await call('OPTIONS', '/environments');
  assert.equal(options.status, 204);
  assert.equal(options.headers.get('access-control-allow-origin'), null);
});

test('bodies: depth, prototypes, broken UTF-8 and compressed bodies are refused or disarmed', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const deep = `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`;
  assert.equal((await call('POST', '/environments', { key, raw: deep })).body.error.type, 'validation_error');
  const proto = await call('POST', '/environments', { key, raw: '{"__proto__":{"is_default":true},"name":"polluted"}' });
  assert.deepEqual([proto.status, proto.body.data.is_default], [201, false]);
  assert.equal((await call('POST', '/environments', { key, body: { name: 'x' }, headers: { 'content-encoding': 'gzip' } })).status, 415);
  assert.equal((await call('POST', '/environments', { key, raw: 'null' })).status, 400);
});

test('every operation of the table has a place, a capability and a summary', () => {
  const seen = new Set<string>();
  for (const op of operations) {
    assert.ok(!seen.has(op.id), `${op.id} is declared twice`);
    seen.add(op.id);
    assert.ok(op.summary.length > 5, op.id);
    assert.ok(typeof op.needs === 'string' || capabilitiesOf(op.needs).length > 0, `${op.id} needs nothing`);
  }
});
