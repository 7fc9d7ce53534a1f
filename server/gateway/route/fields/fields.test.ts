import assert from 'node:assert/strict';
import test from 'node:test';
import { sealValue } from '#server/custody/portable.ts';
import { flushUses } from '#server/custody/uses.ts';
import { tokenize } from '#server/custody/vaults/tokenize.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { startGateway, startUpstream } from '../../gateway.fixture.ts';
import { custodian, routeWith } from './fields.fixture.ts';

await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8' });
const running = await startGateway();
const PAN = '4242424242424242';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Answers what it was sent, with its type. */
const mirror = await startUpstream((req, res, body) => {
  const type = req.headers['content-type'];
  const picked = Object.fromEntries(['x-card', 'x-ssn'].flatMap((name) => (req.headers[name] ? [[name, req.headers[name]]] : [])));
  res.writeHead(200, { ...(type && { 'content-type': type }), ...picked, etag: '"1"' }).end(body);
});
const last = () => mirror.seen.at(-1) as (typeof mirror.seen)[number];
const seal = async (c: Awaited<ReturnType<typeof custodian>>, text: string, role?: string) =>
  (await sealValue(c.w.live, { key: 'app-key', datatype: 's', bytes: Buffer.from(text), role })).text;
const tokenOf = async (c: Awaited<ReturnType<typeof custodian>>, vault: typeof c.any, value: string) =>
  (await tokenize(c.w.live, vault, [{ value }]))[0]?.token ?? '';
const audits = async (c: Awaited<ReturnType<typeof custodian>>, action: string) => {
  await flushUses();
  return db().audit_logs.findMany({ where: { tenant_id: c.w.tenant.id, action }, orderBy: { created_at: 'asc' } });
};

test('the example of the rules: a token becomes the card on its way out, and what comes back is sealed', async () => {
  const c = await custodian();
  const token = await tokenOf(c, c.cards, PAN);
  const upstream = await startUpstream((_, res) => {
    const body = '{"customer": {"ssn":"123-45-6789"}, "big": 12345678901234567890, "e": 1.0E+2}';
    res.writeHead(200, { 'content-type': 'application/json; charset=utf-8', etag: '"x"', digest: 'sha-256=x' }).end(body);
  });
  const { json, route } = await routeWith(running, c, upstream.url, [
    { direction: 'request', action: 'detokenize', selectors: ['$.card.number'], key_name: 'pan-vault' },
    { direction: 'response', action: 'encrypt', selectors: ['$.customer.ssn'], key_name: 'app-key', data_role: 'pii' },
  ]);
  const answer = await json(`{"card": {"number":"${token}" },"amount":5.00}`, { 'accept-encoding': 'gzip', range: 'bytes=0-3' });
  assert.equal(answer.status, 200);
  assert.equal(upstream.seen[0]?.body, `{"card": {"number":"${PAN}" },"amount":5.00}`);
  assert.deepEqual(
    ['content-length', 'accept-encoding', 'range'].map((name) => upstream.seen[0]?.headers[name]),
    [String(upstream.seen[0]?.body.length), 'identity', undefined],
  );
  const [, sealed] = /^\{"customer": \{"ssn":"(kc:1:s:[^"]+:\$)"\}, "big": 12345678901234567890, "e": 1\.0E\+2\}$/.exec(answer.body) ?? [];
  assert.ok(sealed, answer.body);
  assert.deepEqual(
    [answer.headers['content-length'], answer.headers.etag, answer.headers.digest, answer.headers['x-svc-origin']],
    [String(answer.body.length), undefined, undefined, 'upstream'],
  );
  const [entry] = await audits(c, 'vault.detokenize');
  const details = entry?.details as Record<string, unknown>;
  assert.deepEqual([details.route_id, details.count, details.via], [route.id, 1, 'route']);
  assert.ok(!JSON.stringify(details).includes(PAN) && !JSON.stringify(details).includes(token));
  const opening = await routeWith(running, c, mirror.url, [
    { direction: 'response', action: 'decrypt', selectors: ['$.ssn'], key_name: 'app-key', data_role: 'pii' },
  ]);
  assert.equal((await opening.json(JSON.stringify({ ssn: sealed }))).body, '{"ssn":"123-45-6789"}');
});

for (const direction of ['request', 'response'] as const) {
  test(`${direction}: every action on JSON, forms and lines of JSON`, async () => {
    const c = await custodian();
    const sealed = await seal(c, 'a clear text');
    const token = await tokenOf(c, c.any, 'a clear text');
    const input: Record<string, string> = { encrypt: 'x', tokenize: 'x', mask: '4111111111111111', decrypt: sealed, detokenize: token };
    const expected: Record<string, RegExp> = {
      encrypt: /^kc:1:s:.*:\$$/,
      tokenize: /^tok_[0-9A-Z]{26}$/,
      mask: /^\*{12}1111$/,
      decrypt: /^a clear text$/,
      detokenize: /^a clear text$/,
    };
    for (const action of Object.keys(input)) {
      const more = action === 'mask' ? { mask: 'last4' } : { key_name: action.endsWith('crypt') ? 'app-key' : 'any' };
      const value = input[action] ?? '';
      const fails = (found: string | null | undefined, how: string) =>
        assert.match(found ?? '', expected[action] as RegExp, `${action} ${how}`);
      const one = { direction, action, selectors: ['$.f'], ...more };

      const asJson = await routeWith(running, c, mirror.url, [one]);
      const plain = await asJson.json(JSON.stringify({ f: value, other: value }));
      const seen = JSON.parse(direction === 'request' ? last().body : plain.body);
      fails(seen.f, 'json');
      assert.equal(seen.other, value);

      const asForm = await routeWith(running, c, mirror.url, [{ ...one, content_type: 'application/x-www-form-urlencoded' }]);
      const form = await asForm.call({ body: `a=1&f=${encodeURIComponent(value)}&%66=${encodeURIComponent(value)}&b=%20+`, headers: FORM });
      const fields = direction === 'request' ? last().body : form.body;
      for (const found of new URLSearchParams(fields).getAll('f')) fails(found, 'form');
      assert.match(fields, /^a=1&f=.*&%66=.*&b=%20\+$/);

      const asLines = await routeWith(running, c, mirror.url, [{ ...one, content_type: 'application/x-ndjson' }]);
      const line = JSON.stringify({ f: value });
      const lines = await asLines.call({ body: `${line}\n\n{"n":1}\r\n${line}`, headers: { 'content-type': 'application/x-ndjson' } });
      const out = (direction === 'request' ? last().body : lines.body).split('\n');
      assert.deepEqual([out.length, out[1], out[2]], [4, '', '{"n":1}\r'], action);
      for (const i of [0, 3]) fails(JSON.parse(out[i] ?? '').f, 'lines');
    }
  });
}

test('headers of both directions and the query: each value by itself, whatever the case of its name', async () => {
  const c = await custodian();
  const { call } = await routeWith(running, c, mirror.url, [
    { direction: 'request', action: 'encrypt', location: 'header', selectors: ["$['X-Card']"], key_name: 'app-key' },
    { direction: 'response', action: 'decrypt', location: 'header', selectors: ['$.X-Card'], key_name: 'app-key' },
    { direction: 'response', action: 'mask', location: 'header', selectors: ['$.x-ssn'], mask: 'full' },
    { direction: 'request', action: 'tokenize', location: 'query', selectors: ["$['card number']"], key_name: 'any' },
  ]);
  const answer = await call(
    { method: 'GET', headers: { 'x-card': 'gr\u00fcn'.replace('\u00fc', '\u00c3\u00bc'), 'X-SSN': '123-45-6789' } },
    '/p?a=%41&card+number=4242&card%20number=1&b',
  );
  assert.equal(answer.status, 200, answer.body);
  assert.match(String(last().headers['x-card']), /^kc:1:s:/);
  assert.match(last().url, /^\/p\?a=%41&card\+number=tok_\w{26}&card%20number=tok_\w{26}&b$/);
  assert.deepEqual([answer.headers['x-card'], answer.headers['x-ssn']], ['gr\u00c3\u00bcn', '********']);
});

test('a whole object is sealed as one value, with the changes before it, and opens to an object that later actions look into', async () => {
  const c = await custodian();
  const { json } = await routeWith(running, c, mirror.url, [
    { direction: 'request', action: 'mask', selectors: ['$.card.number'], mask: 'last4' },
    { direction: 'request', action: 'encrypt', selectors: ['$.card', '$.n', '$.b', '$.z'], key_name: 'app-key' },
    { direction: 'request', action: 'mask', selectors: ['$.card.holder'], mask: 'full' },
    { direction: 'response', action: 'decrypt', selectors: ['$'], key_name: 'app-key' },
    { direction: 'response', action: 'mask', selectors: ['$.card.holder'], mask: 'full' },
  ]);
  const answer = await json(`{"card":{"number":"${PAN}","holder":"J D","n":1.50},"n":12345678901234567890,"b":true,"z":null}`);
  const sent = JSON.parse(last().body);
  for (const [name, datatype] of Object.entries({ card: 'j', n: 'n', b: 'b', z: 'j' }))
    assert.match(sent[name], new RegExp(`^kc:1:${datatype}:`));
  assert.equal(
    answer.body,
    '{"card":{"number":"************4242","holder":"********","n":1.50},"n":12345678901234567890,"b":true,"z":null}',
  );
});

test('signatures: of the body as it leaves into a header, and of one value into a member, both verified by the key', async () => {
  const c = await custodian();
  const { json } = await routeWith(running, c, mirror.url, [
    { direction: 'request', action: 'mask', selectors: ['$.card'], mask: 'last4' },
    { direction: 'request', action: 'sign', selectors: ['$'], key_name: 'mac', signature_header: 'X-Body-Signature' },
    { direction: 'response', action: 'sign', selectors: ['$.total'], key_name: 'mac', signature_member: 'total_signature' },
  ]);
  const answer = await json(`{"card":"${PAN}","total":10.50}`, { 'x-body-signature': 'forged' });
  const { verifyWith } = await import('./verify.fixture.ts');
  const signature = String(last().headers['x-body-signature']);
  assert.match(signature, /^svc:v1:/);
  assert.ok(await verifyWith(c.w.live, 'mac', Buffer.from('{"card":"************4242","total":10.50}'), signature));
  const body = JSON.parse(answer.body);
  assert.ok(await verifyWith(c.w.live, 'mac', Buffer.from('10.50'), body.total_signature));
  assert.ok(!(await verifyWith(c.w.live, 'mac', Buffer.from('10.5'), body.total_signature)));
});

test('values that are none of an action’s business stay as they are', async () => {
  const c = await custodian();
  const sealed = await seal(c, 'x');
  const { json } = await routeWith(running, c, mirror.url, [
    { direction: 'request', action: 'decrypt', selectors: ['$.a'], key_name: 'app-key' },
    { direction: 'request', action: 'detokenize', selectors: ['$.a'], key_name: 'any' },
    { direction: 'request', action: 'encrypt', selectors: ['$.sealed'], key_name: 'app-key' },
    { direction: 'request', action: 'tokenize', selectors: ['$.none', '$.empty'], key_name: 'any' },
  ]);
  const body = `{"a":["plain",4242,true,null,"kc:not one","tok_00000000000000000000000000"],"sealed":"${sealed}","none":null,"empty":""}`;
  assert.equal((await json(body)).status, 200);
  assert.equal(last().body, body);
  assert.equal((await audits(c, 'transit.decrypt')).length, 0);
});

test('one audit entry for each call and action, however many values and lines, written before anything is sent', async () => {
  const c = await custodian();
  const sealed = await Promise.all(['a', 'b', 'c'].map((text) => seal(c, text)));
  const { call, route } = await routeWith(running, c, mirror.url, [
    { direction: 'request', action: 'decrypt', selectors: ['$..v'], key_name: 'app-key', content_type: 'application/x-ndjson' },
    { direction: 'request', action: 'decrypt', selectors: ['$..v'], key_name: 'app-key' },
  ]);
  await call({ body: sealed.map((v) => JSON.stringify({ v })).join('\n'), headers: { 'content-type': 'application/x-ndjson' } });
  assert.equal(last().body, '{"v":"a"}\n{"v":"b"}\n{"v":"c"}');
  await call({ body: JSON.stringify(sealed.map((v) => ({ v }))), headers: { 'content-type': 'application/json' } });
  const entries = await audits(c, 'transit.decrypt');
  assert.deepEqual(
    entries.map(({ details, resource_type }) => [resource_type, (details as { route_id: string }).route_id]),
    [
      ['crypto_key', route.id],
      ['crypto_key', route.id],
    ],
  );
  assert.equal((entries[1]?.details as { leaves?: number } | undefined)?.leaves, 3);
});
