import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { nextFor, stored } from '#components/trpc/handover.ts';
import { type ApiDocument, operationsOf } from './document.ts';
import { SendRefused, type Sent, sendCall } from './send.ts';

const operations = operationsOf(JSON.parse(fs.readFileSync('public/openapi.json', 'utf8')) as ApiDocument);
const call = (id: string, more: Partial<Sent> = {}): Sent => {
  const op = operations.find((one) => one.id === id);
  assert.ok(op, id);
  return { op, path: op.path, query: {}, headers: {}, body: { name: 'ci' }, confirmed: false, ...more };
};
const sender = { slug: 'acme', space: 'test', csrf: 'c', person: 'ada' } as const;
const answer = (status: number, body: unknown) =>
  Response.json({ status, headers: [], body: JSON.stringify(body), duration_ms: 1, request_id: 'r' });
const made = () => answer(201, { data: { id: '1', api_key: 'tk_test_needle' }, meta: {} });
const underWay = () => answer(409, { error: { type: 'request_in_progress', message: 'Retry in a moment.' } });
const lost = () => Promise.reject(new TypeError('network'));

globalThis.window = new EventTarget() as unknown as Window & typeof globalThis;
type Asked = { headers: Record<string, string>; signal: AbortSignal | null };
/** The network, as it behaves call by call; tells what was asked of it. */
function network(...behaves: (() => Response | Promise<Response>)[]): Asked[] {
  const asked: Asked[] = [];
  globalThis.fetch = async (_, init) => {
    asked.push({ headers: (JSON.parse(String(init?.body)) as Asked).headers, signal: init?.signal ?? null });
    const behave = behaves[asked.length - 1];
    assert.ok(behave, 'asked once too often');
    return behave();
  };
  return asked;
}

test('an answer that shows a value once is asked for by the same key until it is had, and the value is in no answer', async () => {
  const cut = () => new Response('{"status": 201, "bo');
  const asked = network(lost, cut, () => new Response('bad gateway', { status: 502 }), underWay, made);
  const got = await sendCall(call('api_keys.create'), sender, [0, 0, 0, 0]);
  assert.ok(!JSON.stringify(got).includes('needle'));
  const handed = nextFor('ada');
  assert.deepEqual(handed && [handed.name, handed.value, handed.from], ['api_key', 'tk_test_needle', 'Created in Test for acme.']);
  if (handed) stored(handed);
  const keys = new Set(asked.map(({ headers }) => headers['Idempotency-Key']));
  assert.deepEqual([asked.length, keys.size], [5, 1]);
  assert.match([...keys].join(''), /^[0-9a-f]{32}$/);
});

test('the key of the person is the key, and where no answer comes it is told, since it still brings one', async () => {
  network(lost, lost);
  const headers = { 'Idempotency-Key': 'mine' };
  await assert.rejects(
    sendCall(call('api_keys.rotate', { headers }), sender, [0]),
    /repeat it within 24 hours with Idempotency-Key mine\.$/,
  );
  assert.equal(nextFor('ada'), undefined);
});

test('a refusal is final, and what stops the waiting for other calls does not cut this one off', async () => {
  const { signal } = new AbortController();
  network(() => Response.json({ code: 'not_authenticated', message: 'Sign in to continue.' }, { status: 401 }));
  const refused = await sendCall(call('api_keys.create'), sender, [0]).catch((error: unknown) => error);
  assert.ok(refused instanceof SendRefused && refused.data.code === 'not_authenticated');
  const asked = network(made);
  await sendCall(call('api_keys.create', { signal }), sender, []);
  const handed = nextFor('ada');
  if (handed) stored(handed);
  assert.deepEqual(
    asked.map((one) => one.signal),
    [null],
  );
});

test('any other call is sent once, without a key, and can be cut off', async () => {
  const { signal } = new AbortController();
  const asked = network(lost);
  await assert.rejects(sendCall(call('environments.create', { signal }), sender, [0]), TypeError);
  assert.deepEqual(asked, [{ headers: {}, signal }]);
});
