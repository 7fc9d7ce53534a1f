import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { KEY_ROLES } from '#server/kernel/capabilities.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, makeSecret, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { ECHO_ORIGIN } from '../snapshot/echo-target.ts';

// Callers, and holders of small rights, who want more from the data plane than they were given.

await testDatabase();
const running = await startGateway();
const { port } = running;

/** The row of a call; it is queued after the answer has left, so the caller may ask before it is there. */
const logged = async (requestId: string) => {
  await until(async () => {
    await running.flush();
    return db().request_logs.count({ where: { request_id: requestId } });
  });
  return db().request_logs.findFirst({ where: { request_id: requestId } });
};

test('scopes narrow what the roles of a key may do, and never add to it', async () => {
  const w = await workspace();
  const upstream = await startUpstream();
  await makeRoute(w, 'r', upstream.url);
  const scoped = { key_type: 'access_key', scoped: true };
  const readOnly = await w.key('live', 'Key - Read-only', { ...scoped, scopes: ['proxy:invoke'] });
  const narrowed = await w.key('live', 'Key - Editor', { ...scoped, scopes: ['routes:read'] });
  const invoking = await w.key('live', 'Key - Editor', { ...scoped, scopes: ['proxy:invoke'] });
  assert.ok(KEY_ROLES.every((role) => role.name !== 'Key - Read-only' || !role.capabilities.has('proxy:invoke')));
  await served(running, w);
  const statuses = [];
  for (const { text } of [readOnly, narrowed, invoking]) statuses.push((await ask(port, w.tenant.slug, '/r', { key: text })).status);
  assert.deepEqual(statuses, [403, 403, 200]);
});

test('who may only write variables cannot lead a route with a secret to another host', async () => {
  const w = await workspace();
  const [intended, thief] = [await startUpstream(), await startUpstream()];
  const scope = { tenant_id: w.tenant.id, sandbox: false };
  const collection = await db().collections.create({ data: { id: newId(), ...scope, name: 'C', slug: 'c' } });
  const variable = await db().collection_variables.create({
    data: { id: newId(), ...scope, collection_id: collection.id, key: 'region', value: '127' },
  });
  await makeSecret(w, 'TOKEN', { production: 'the-upstream-credential' });
  await makeRoute(
    w,
    'r',
    `http://{{var:region}}.0.0.1:${intended.port}/{{var:region}}/x`,
    { inject_headers_json: { Authorization: 'Bearer {{secret:TOKEN}}' } },
    { collectionId: collection.id },
  );
  const { text: key } = await w.key();
  await served(running, w);
  assert.equal((await ask(port, w.tenant.slug, '/r', { key })).status, 200);
  assert.equal(intended.seen[0]?.url, '/127/x');
  for (const value of [
    `127.0.0.1:${thief.port}/`,
    `127.0.0.1:${thief.port}/a?`,
    `localhost:${thief.port}/`,
    'x@127',
    '127:80',
    '[::1]',
    '',
    ' ',
  ]) {
    await db().collection_variables.update({ where: { id: variable.id }, data: { value } });
    await served(running, w);
    const answer = await ask(port, w.tenant.slug, '/r', { key });
    assert.deepEqual([answer.status, answer.headers['x-svc-error']], [424, 'template_invalid'], JSON.stringify(value));
  }
  assert.equal(thief.seen.length, 0);
});

test('a key that may only call routes cannot have the echo upstream show it a secret', async () => {
  const w = await workspace();
  await makeSecret(w, 'HIDDEN', { production: 'value-nobody-may-read' });
  await makeRoute(w, 'echo', ECHO_ORIGIN, { body_placeholders: 'all' });
  const { text: key } = await w.key('live', 'Key - Invoke');
  await served(running, w);
  for (const [type, body] of [
    ['application/json', '{"x":"{{secret:HIDDEN}}"}'],
    ['text/plain', '{{secret:HIDDEN}}'],
  ] as const) {
    const answer = await ask(port, w.tenant.slug, '/echo', { key, method: 'POST', body, headers: { 'content-type': type } });
    assert.equal(answer.status, 200, answer.body);
    assert.doesNotMatch(answer.body, /value|read/);
  }
});

test('the echo upstream shows the name of a secret that a route injects, wherever it is put, and nothing of the value', async () => {
  const w = await workspace();
  await makeSecret(w, 'HIDDEN', { production: 'value-nobody-may-read' });
  const template = 'x {{secret:HIDDEN}}';
  await makeRoute(w, 'echo', ECHO_ORIGIN, {
    inject_headers_json: { 'X-Custom': template, Authorization: 'Bearer {{secret:HIDDEN}}' },
    inject_query_json: { q: template },
    inject_body_json: { b: template },
  });
  const { text: key } = await w.key();
  await served(running, w);
  const answer = await ask(port, w.tenant.slug, '/echo', {
    key,
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(answer.status, 200, answer.body);
  assert.doesNotMatch(answer.body, /value|nobody|may|read|\*/);
  const { headers, query, body } = JSON.parse(answer.body);
  assert.equal(headers.authorization, 'Bearer [redacted:secret:HIDDEN]');
  for (const text of [headers['x-custom'], query.q, body.b]) assert.equal(text, 'x [redacted:secret:HIDDEN]');
});

test('no caller can keep the request logs of everybody from being written', async () => {
  const w = await workspace();
  await makeRoute(w, 'r', (await startUpstream()).url);
  const { text: key } = await w.key();
  await served(running, w);
  // More than an index entry may hold, and more than a bigint.
  const wide = await ask(port, w.tenant.slug, '/r', { key, headers: { 'x-svc-environment': randomBytes(6_000).toString('hex') } });
  assert.equal(wide.status, 404);
  const row = await logged(wide.headers['x-svc-request-id'] ?? '');
  assert.ok(row, 'the call itself is logged');
  assert.ok((row.environment ?? '').length <= 64);
  const next = await ask(port, w.tenant.slug, '/r', { key });
  assert.ok(await logged(next.headers['x-svc-request-id'] ?? ''), 'and so are the calls after it');
});

test('an announced length that no column can hold does not keep a call out of the log', async () => {
  const w = await workspace();
  await served(running, w);
  const answer = await ask(port, w.tenant.slug, '/r', { method: 'POST', headers: { 'content-length': '18446744073709551615' } });
  assert.equal(answer.status, 401);
  assert.ok(await logged(answer.headers['x-svc-request-id'] ?? ''));
});
