import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type EventRow, eventData } from '#server/domain/events/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { columnJson, parseExact } from '#server/kernel/lossless-json.ts';
import { atOnce } from '#server/kernel/slices.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { HOSTILE_JSON } from '#server/testing/hostile/json-document.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { raiseDailyFromCall } from '../core/events.ts';
import { type Ask, ask, makeRoute, makeSecret, putValue, served, startGateway, startUpstream } from '../gateway.fixture.ts';

await testDatabase();
const running = await startGateway();
const { port } = running;
const upstream = await startUpstream();
const w = await workspace();
const { text: key } = await w.key();
const scope = { tenant_id: w.tenant.id, sandbox: false };
const collection = await db().collections.create({ data: { id: newId(), ...scope, name: 'Mine', slug: 'mine' } });
const foreign = await db().collections.create({ data: { id: newId(), ...scope, name: 'Theirs', slug: 'theirs' } });
const common = await makeSecret(w, 'COMMON', { production: 's3cret-"é"&<x>\\' });
await makeSecret(w, 'INSIDE', { production: 'inside-value' }, { collection_id: collection.id });
await makeSecret(w, 'OUTSIDE', { production: 'outside-value' }, { collection_id: foreign.id });
await makeSecret(w, 'EMPTY', {});
await makeSecret(w, 'OLD', { production: 'old-value' }, { expires_at: new Date(Date.now() - 1000) });
await makeSecret(w, 'STRICT', { production: 'strict-value' }, { expires_at: new Date(Date.now() - 1000), strict_expiry_enforcement: true });
await makeSecret(w, 'CERT', { production: 'x' }, { secret_type: 'certificate' });
await makeSecret(w, 'PINNED', { production: 'pinned-value' }, { allowed_hosts: ['api.partner.example'] });
await makeSecret(w, 'LINES', { production: 'a\r\nX-Evil: 1' });
await makeSecret(w, 'WIDE', { production: 'snow☃' });
await makeSecret(w, 'NESTED', { production: '{{secret:COMMON}}' });
await makeSecret(w, 'PLAIN', { production: 'plain-value' });
const variable = (collection_id: string, k: string, more: Record<string, unknown>) =>
  db().collection_variables.create({ data: { id: newId(), ...scope, collection_id, key: k, ...more } });
await variable(collection.id, 'region', { value: '127.0.0.1' });
await variable(collection.id, 'ver', { value: 'v2' });
await variable(collection.id, 'evil', { value: 'v2/../../x' });
await variable(collection.id, 'hidden', { type: 'secret', secret_id: common.id });
await variable(foreign.id, 'name', { value: 'from theirs' });

let n = 0;
/** A route with this configuration, called once; answers what the upstream saw, or the refusal. */
async function through(config: Record<string, unknown>, call: Ask & { path?: string; target?: string; collectionId?: string | null } = {}) {
  const slug = `i${n++}`;
  await makeRoute(
    w,
    slug,
    call.target ?? upstream.url,
    config,
    call.collectionId === null ? {} : { collectionId: call.collectionId ?? collection.id },
  );
  await served(running, w);
  const before = upstream.seen.length;
  const answer = await ask(port, w.tenant.slug, `/${slug}${call.path ?? ''}`, { key, ...call });
  const sent = upstream.seen.slice(before);
  assert.equal(
    sent.length,
    answer.headers['x-svc-origin'] === 'upstream' ? 1 : 0,
    'an upstream is called exactly when its answer is returned',
  );
  return { answer, seen: sent[0], code: answer.headers['x-svc-error'], slug };
}
const json = (body: string): Ask => ({ method: 'POST', body, headers: { 'content-type': 'application/json' } });

test('every way a secret can be missing or unfit has its own refusal, and nothing is sent', async () => {
  const cases: [string, number, string][] = [
    ['{{secret:NOBODY}}', 424, 'secret_not_found'],
    ['{{secret:common}}', 424, 'secret_not_found'],
    [`{{secret_id:${newId()}}}`, 424, 'secret_not_found'],
    ['{{secret:EMPTY}}', 424, 'secret_environment_missing'],
    ['{{secret:STRICT}}', 424, 'secret_expired'],
    ['{{secret:CERT}}', 424, 'secret_type_not_injectable'],
    ['{{secret:PINNED}}', 403, 'secret_host_not_allowed'],
    ['{{secret:LINES}}', 424, 'secret_invalid_for_header'],
    ['{{secret:WIDE}}', 424, 'secret_invalid_for_header'],
    ['{{var:nothing}}', 424, 'template_invalid'],
    ['{{secret:', 424, 'template_invalid'],
    ['{{secret:a b}}', 424, 'template_invalid'],
  ];
  for (const [template, status, code] of cases) {
    const { answer } = await through({ inject_headers_json: { 'X-Token': `Bearer ${template}` } });
    assert.deepEqual([answer.status, answer.headers['x-svc-error']], [status, code], template);
    assert.doesNotMatch(answer.body, /pinned-value|strict-value|snow|X-Evil/);
  }
});

test('a call that uses an expired value is an event, once a day', async () => {
  await db().event_subscriptions.create({
    data: { ...scope, id: newId(), channel: 'test', destination_id: newId(), event_types: ['secret.expired_used'] },
  });
  const { id } = await makeSecret(w, 'ENDED', { production: 'ended-value' }, { expires_at: new Date(Date.now() - 60_000) });
  const { slug } = await makeRoute(w, 'ended', upstream.url, { inject_headers_json: { 'x-old': '{{secret:ENDED}}' } });
  await served(running, w);
  const raised = () => db().events.findMany({ where: { tenant_id: w.tenant.id, type: 'secret.expired_used' } });
  for (let i = 0; i < 3; i++) assert.equal((await ask(port, w.tenant.slug, `/${slug}`, { key })).status, 200);
  await until(async () => (await raised()).length > 0);
  // Another gateway, which noted nothing.
  const event = { tenant_id: w.tenant.id, sandbox: false, type: 'secret.expired_used', source_id: id, data: {} } as const;
  await Promise.all([raiseDailyFromCall(event), raiseDailyFromCall(event)]);
  const rows = await raised();
  assert.deepEqual(
    rows.map(({ source_id }) => source_id),
    [id],
  );
  const { expires_at, ...data } = await eventData(rows[0] as EventRow);
  assert.deepEqual(data, { id, name: 'ENDED', secret_type: 'string', environment: 'production' });
  assert.ok(Date.parse(String(expires_at)) < Date.now());
});

test('an expired secret that is not strict still works, with a warning in the log', async () => {
  const { answer, seen } = await through({ inject_headers_json: { 'X-Old': '{{secret:OLD}}' } });
  assert.equal(seen?.headers['x-old'], 'old-value');
  await running.flush();
  const row = await db().request_logs.findFirstOrThrow({ where: { request_id: answer.headers['x-svc-request-id'] ?? '' } });
  assert.deepEqual([row.warnings, row.secrets_used, row.injected], [['expired:OLD'], ['OLD'], ['header:x-old']]);
});

test('variables, context and a value that looks like a placeholder are put in once', async () => {
  const { seen, slug } = await through(
    {
      inject_headers_json: {
        'X-Var': '{{var:ver}}/{{var:theirs.name}}/{{ var:mine.hidden }}',
        'X-Context': '{{environment}} {{route.slug}} {{tenant_id}} {{client.id}}| {{vars.page}}',
        'X-Once': '{{secret:NESTED}}',
        'X-Other': '{{not.ours}} {{#if}}',
      },
    },
    { path: '?page=a%20b&page=c' },
  );
  // The secret holds é: Latin-1 on the wire.
  assert.equal(Buffer.from(String(seen?.headers['x-var']), 'latin1').toString('latin1'), 'v2/from theirs/s3cret-"é"&<x>\\');
  assert.equal(seen?.headers['x-context'], `production ${slug} ${w.tenant.id} | a b`);
  assert.equal(seen?.headers['x-once'], '{{secret:COMMON}}');
  assert.equal(seen?.headers['x-other'], '{{not.ours}} {{#if}}');
});

test('query parameters are replaced and appended, the rest of the query stays byte for byte', async () => {
  const { seen } = await through(
    { inject_query_json: { key: '{{secret:COMMON}}', b: 'x y', gone: null } },
    { path: '/p?a=1&key=mine&%6bey=also&b&c=%zz&gone=1&&d=+%2B' },
  );
  assert.equal(seen?.url, '/p?a=1&c=%zz&d=+%2B&b=x+y&key=s3cret-%22%C3%A9%22%26%3Cx%3E%5C');
});

test('the body is merged deeply and keeps every digit', async () => {
  const merged = await through(
    { inject_body_json: { a: { x: 1, token: '{{secret:COMMON}}' }, list: [1], n: 7 } },
    json('{"big":123456789012345678901234567890,"exp":1.50e+10,"a":{"y":2.0,"x":9},"list":[2,3],"u":"\\u00e9\\ud83d\\ude00"}'),
  );
  assert.match(
    merged.seen?.body ?? '',
    /^\{"big":123456789012345678901234567890,"exp":1\.50e\+10,"a":\{"y":2\.0,"x":1,"token":"s3cret-\\"é\\"&<x>\\\\"\},"list":\[1\],"u":"\\u00e9\\ud83d\\ude00","n":7\}$/u,
  );
  assert.equal(merged.seen?.headers['content-length'], String(Buffer.byteLength(merged.seen?.body ?? '')));
  const empty = await through({ inject_body_json: { a: 1 } }, { method: 'POST' });
  assert.deepEqual([empty.seen?.body, empty.seen?.headers['content-type']], ['{"a":1}', 'application/json']);
  const form = await through(
    { inject_body_json: { token: '{{secret:COMMON}}', n: 5 } },
    { method: 'POST', body: 'a=1&token=x&b=%2B', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  );
  assert.equal(form.seen?.body, 'a=1&b=%2B&n=5&token=s3cret-%22%C3%A9%22%26%3Cx%3E%5C');
  const get = await through({ inject_body_json: { a: 1 } }, { headers: {} });
  assert.equal(get.seen?.body, '');
});

test('an injected body goes upstream with the digits and names it was stored with', async () => {
  const stored = '{"id":7615917337495251231,"rate":1.10,"deep":[{"big":1e21,"constructor":"{{secret:COMMON}}"}]}';
  const sent = stored.replace('{{secret:COMMON}}', 's3cret-\\"é\\"&<x>\\\\');
  const inject_body_json = columnJson(parseExact(stored));
  assert.equal((await through({ inject_body_json }, { method: 'POST' })).seen?.body, sent);
  const merged = await through({ inject_body_json }, json('{"a":2.0,"id":1}'));
  assert.equal(
    merged.seen?.body,
    `{"a":2.0,${sent.slice(1).replace('"id":7615917337495251231,', '')}`.replace('"a":2.0,', '"a":2.0,"id":7615917337495251231,'),
  );
  const method_configs = columnJson([{ method: 'POST', inject_body_json: parseExact(stored) }]);
  const own = await through({ method_configs, use_method_specific_configs: true }, { method: 'POST' });
  assert.equal(own.seen?.body, sent);
});

test('a caller’s body keeps its digits and names beside what is injected', async () => {
  const { seen } = await through({ inject_body_json: { added: '{{secret:PLAIN}}' } }, json(HOSTILE_JSON));
  assert.equal(seen?.body, `${HOSTILE_JSON.slice(0, -1)},"added":"plain-value"}`);
});

test('a body that cannot be merged is refused, not sent without', async () => {
  const cases: [Ask, number, string][] = [
    [json('[1]'), 400, 'invalid_body'],
    [json('{"a":'), 400, 'invalid_body'],
    [json('{"a":1,"a":2}'), 400, 'invalid_body'],
    [json('['.repeat(100_000)), 400, 'invalid_body'],
    [
      { method: 'POST', body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), headers: { 'content-type': 'application/json' } },
      400,
      'invalid_body',
    ],
    [{ method: 'PUT', body: 'hello', headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type'],
    [
      { method: 'PUT', body: 'hello', headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } },
      415,
      'unsupported_media_type',
    ],
    [{ method: 'POST', body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 424, 'template_invalid'],
  ];
  for (const [call, status, code] of cases) {
    const { answer } = await through({ inject_body_json: { a: { b: 1 } } }, call);
    assert.deepEqual([answer.status, answer.headers['x-svc-error']], [status, code], String(call.body).slice(0, 40));
  }
});

test('a member called __proto__ stays a member', async () => {
  const { seen } = await through({ inject_body_json: { b: 1 } }, json('{"__proto__":{"admin":true},"constructor":1}'));
  assert.equal(seen?.body, '{"__proto__":{"admin":true},"constructor":1,"b":1}');
  assert.equal(({} as { admin?: boolean }).admin, undefined);
});

test('placeholders of the caller resolve by media type, inside the route’s collection only', async () => {
  const table: [string, string, string][] = [
    [
      'application/json',
      '{"n":1.0, "t":"x {{secret:COMMON}} y","u":"{{secret:INSIDE}}","v":"{{environment}}"}',
      '{"n":1.0, "t":"x s3cret-\\"é\\"&<x>\\\\ y","u":"inside-value","v":"{{environment}}"}',
    ],
    ['application/vnd.x+json', '["{{var:ver}}"]', '["v2"]'],
    [
      'application/x-www-form-urlencoded',
      'a=%7B%7Bsecret%3ACOMMON%7D%7D&b=1&c={{secret:INSIDE}}',
      'a=s3cret-%22%C3%A9%22%26%3Cx%3E%5C&b=1&c=inside-value',
    ],
    ['text/plain', 'é {{secret:COMMON}}', 'é s3cret-"é"&<x>\\'],
    ['text/xml; charset=utf-8', '<a b="{{secret:COMMON}}"/>', '<a b="s3cret-&#34;é&#34;&#38;&#60;x&#62;\\"/>'],
    [
      'multipart/form-data; boundary=B',
      '--B\r\nContent-Disposition: form-data; name=a\r\n\r\n{{secret:INSIDE}}\r\n--B\r\nContent-Type: image/png\r\n\r\n{{secret:INSIDE}}\r\n--B--',
      '--B\r\nContent-Disposition: form-data; name=a\r\n\r\ninside-value\r\n--B\r\nContent-Type: image/png\r\n\r\n{{secret:INSIDE}}\r\n--B--',
    ],
    ['application/octet-stream', '{{secret:INSIDE}}', '{{secret:INSIDE}}'],
    ['application/json', '{"a":"{{mustache}} {{ secretive : x }}"}', '{"a":"{{mustache}} {{ secretive : x }}"}'],
  ];
  for (const [type, body, expected] of table) {
    const { seen, answer } = await through({}, { method: 'POST', body, headers: { 'content-type': type } });
    assert.equal(seen?.body, expected, `${type} ${answer.body}`);
    assert.equal(seen?.headers['content-length'], String(Buffer.byteLength(expected)));
  }
});

test('what a caller may not reach answers as if it did not exist', async () => {
  const outside = await through({}, json('{"t":"{{secret:OUTSIDE}}"}'));
  const missing = await through({}, json('{"t":"{{secret:NOWHERE}}"}'));
  assert.equal(outside.answer.status, 424);
  assert.equal(outside.code, missing.code);
  const all = await through({ body_placeholders: 'all' }, json('{"t":"{{secret:OUTSIDE}}"}'));
  assert.equal(all.seen?.body, '{"t":"outside-value"}');
  const off = await through({ body_placeholders: 'off' }, json('{"t":"{{secret:INSIDE}}","u":{{secret:'));
  assert.equal(off.seen?.body, '{"t":"{{secret:INSIDE}}","u":{{secret:');
  const noCollection = await through({}, { ...json('{"t":"{{secret:INSIDE}}"}'), collectionId: null });
  assert.equal(noCollection.code, 'secret_not_found');
  assert.equal((await through({}, json('{"t":"{{var:theirs.name}}"}'))).code, 'template_invalid');
  assert.equal((await through({}, json('{"t":"{{secret:PINNED}}"}'))).code, 'secret_host_not_allowed');
  assert.equal((await through({}, json('{"t":{{secret:INSIDE}}}'))).code, 'template_invalid');
  assert.equal((await through({}, json(`["${'{{secret:INSIDE}}'.repeat(101)}"]`))).code, 'template_invalid');
  // Never in headers, path or query.
  const elsewhere = await through(
    {},
    { headers: { 'x-mine': '{{secret:INSIDE}}' }, path: '/%7B%7Bsecret:INSIDE%7D%7D?q={{secret:INSIDE}}' },
  );
  assert.equal(elsewhere.seen?.headers['x-mine'], '{{secret:INSIDE}}');
  assert.equal(elsewhere.seen?.url, '/%7B%7Bsecret:INSIDE%7D%7D?q={{secret:INSIDE}}');
});

test('a body beyond the scan limit passes untouched, or is refused when it asks for a secret', async () => {
  const filler = 'x'.repeat(6 * 1024 * 1024);
  const plain = await through({}, { method: 'POST', body: filler, headers: { 'content-type': 'text/plain' } });
  assert.equal(plain.seen?.body.length, filler.length);
  const asking = await through({}, { method: 'POST', body: `{{secret:INSIDE}}${filler}`, headers: { 'content-type': 'text/plain' } });
  assert.deepEqual([asking.answer.status, asking.code], [413, 'payload_too_large']);
  const merged = await through({ inject_body_json: { a: 1 } }, json(`{"f":"${filler}${filler}"}`));
  assert.deepEqual([merged.answer.status, merged.code], [413, 'payload_too_large']);
});

test('a target takes value variables, and what they make of it is judged again', async () => {
  const target = `http://{{var:region}}:${upstream.port}/{{var:ver}}`;
  assert.equal((await through({}, { target, path: '/a%2Fb//c' })).seen?.url, '/v2/a%2Fb//c');
  assert.equal((await through({}, { target: `http://127.0.0.1:${upstream.port}/{{var:evil}}` })).code, 'template_invalid');
  assert.equal((await through({}, { target: `http://127.0.0.1:${upstream.port}/{{var:hidden}}` })).code, 'template_invalid');
  assert.equal((await through({}, { target, collectionId: null })).code, 'template_invalid');
});

test('a rotated value is used on the next call', async () => {
  const secret = await makeSecret(w, 'ROTATED', { production: 'first' });
  const { slug } = await through({ inject_headers_json: { 'X-R': '{{secret:ROTATED}}' } });
  assert.equal(upstream.seen.at(-1)?.headers['x-r'], 'first');
  const entry = await db().secret_environments.findFirstOrThrow({ where: { secret_id: secret.id } });
  await putValue(w, entry.id, 'second', 2);
  await until(async () => {
    await ask(port, w.tenant.slug, `/${slug}`, { key });
    return upstream.seen.at(-1)?.headers['x-r'] === 'second';
  });
});

test('a tenant key that is gone seals what needs it and nothing else', async () => {
  const sealed = await workspace();
  const { text: sealedKey } = await sealed.key();
  await makeSecret(sealed, 'S', { production: 'value' });
  await makeRoute(sealed, 'needs', upstream.url, { inject_headers_json: { 'X-S': '{{secret:S}}' } });
  await makeRoute(sealed, 'needs-not', upstream.url);
  await served(running, sealed);
  assert.equal((await ask(port, sealed.tenant.slug, '/needs', { key: sealedKey })).status, 200);
  await db().tenant_master_keys.updateMany({
    where: { tenant_id: sealed.tenant.id },
    data: { status: 'revoked', wrapped_key: null, revoked_at: new Date() },
  });
  await until(async () => (await ask(port, sealed.tenant.slug, '/needs', { key: sealedKey })).status === 503);
  const answer = await ask(port, sealed.tenant.slug, '/needs', { key: sealedKey });
  assert.deepEqual([answer.headers['x-svc-error'], answer.headers['retry-after']], ['tenant_sealed', '30']);
  assert.equal((await ask(port, sealed.tenant.slug, '/needs-not', { key: sealedKey })).status, 200);
});

test('whatever a secret holds, a JSON body stays the same JSON with that value in it', async () => {
  const { scanBody, writeBody } = await import('../templates/body-scan.ts');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (value, around) => {
      const body = Buffer.from(JSON.stringify({ a: around.replaceAll('{{', ''), t: '<{{secret:X}}>' }));
      const scan = atOnce(scanBody(body, 'json', 'application/json'));
      assert.ok(scan && !('code' in scan));
      const written: unknown = JSON.parse(writeBody(scan, new Map(scan.references.map((reference) => [reference, value]))).toString());
      assert.deepEqual(written, { a: JSON.parse(body.toString()).a, t: `<${Buffer.from(value).toString()}>` });
    }),
  );
});
