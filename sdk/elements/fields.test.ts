// own process: its globals are those of a page
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { openLeaf } from '#server/crypto/portable/seal.ts';
import { requirePortable } from '#server/crypto/portable/text.ts';
import { openMaterial } from '#server/crypto/transit/material.ts';
import { until } from '#server/testing/until.ts';
import { type Answers, earlierInit, field, PAGE, type Page } from './field.fixture.ts';

const CARD = '4242424242424242';
const WORKSPACE = '0f8fad5b-d9cb-469f-a165-70867728950e';
const TOKEN = `kct_${'A'.repeat(43)}`;
const FOREIGN = `kct_${'B'.repeat(43)}`;

/** A key of a workspace: what its document has of it, and what only its owner has. */
function keyOf(tenant_id: string, app_key_id = '7c9e6679-7425-40de-944b-e07fc1f90ae7') {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(-65);
  const key_ref = { tenant_id, app_key_id, key_version: 1 };
  const open = (text: string) =>
    openLeaf(openMaterial('ecdh-p256', privateKey.export({ format: 'der', type: 'pkcs8' })), requirePortable(text), {
      tenant_id,
      role: undefined,
    }).toString();
  return { bundle: { public_key_raw: point.toString('base64url'), key_ref }, open };
}
const own = keyOf(WORKSPACE);
const thief = keyOf(WORKSPACE);
const named = keyOf(WORKSPACE, '9f1c3a52-0d8e-4b1f-8a6f-2f5c2a1d7e90');
const foreign = keyOf('5b7e4c1d-6a2f-4e3b-9c8d-1f0a2b3c4d5e');

const sealing = () => field('card', { 'svc-workspace': WORKSPACE, 'svc-bundle': JSON.stringify(own.bundle) });
const vault = (answers: Answers = {}) => field('card', { 'svc-workspace': WORKSPACE, 'svc-bundle': '' }, answers);
const init = (more: object = {}) => ({ type: 'svc:init', origin: PAGE, ...more });
const VALID = { '/v1/client/check': { status: 200, body: { data: { valid: true } } } };
const KEPT = { '/v1/client/tokenize': { status: 200, body: { data: { token: 'tok_1' } } } };
const refusedBy = (type: string) => ({ '/v1/client/check': { status: 401, body: { error: { type, message: 'No.' } } } });

function type(page: Page) {
  Object.assign(page.element('number'), { value: CARD });
  Object.assign(page.element('expiry'), { value: '12 / 30' });
  Object.assign(page.element('name'), { value: 'Ada Lovelace' });
}

/** Nothing that was typed is anywhere: not in a message, not in a request, not in the form. */
function nothingLeft(page: Page) {
  assert.ok(!JSON.stringify([page.heard, page.requested]).includes('4242'));
  assert.equal(page.element('number').value, '');
}

const errorOf = ({ heard }: Page) => heard.find((message) => message.type === 'svc:error')?.error;

test('seals for the workspace in its own document, and tells the page four members', async () => {
  const page = await sealing();
  assert.deepEqual(page.heard, [{ type: 'svc:ready' }]);
  page.post(init());
  await until(() => !page.element('submit').disabled);
  type(page);
  page.element('form').fire('submit');
  await until(() => page.heard.length > 1);
  const [, message] = page.heard;
  assert.ok(message?.type === 'svc:result');
  assert.deepEqual(Object.keys(message.result).sort(), ['brand', 'ciphertext', 'exp', 'last4']);
  assert.equal(own.open(message.result.ciphertext?.number ?? ''), CARD);
  assert.equal(page.requested.length, 0);
  assert.equal(page.element('number').value, '');
});

test('a page with the library of an earlier release gets a card that was sealed with the key in the document, whatever key it sent', async () => {
  const older = { ...own.bundle, key_ref: { ...own.bundle.key_ref, key_version: 7 } };
  for (const bundle of [own.bundle, thief.bundle, older]) {
    const page = await sealing();
    page.post(earlierInit({ bundle }));
    await until(() => !page.element('submit').disabled);
    type(page);
    page.element('form').fire('submit');
    await until(() => page.heard.length > 1);
    const message = page.heard.at(-1);
    assert.ok(message?.type === 'svc:result', JSON.stringify(message));
    assert.equal(own.open(message.result.ciphertext?.number ?? ''), CARD);
    assert.equal(own.open(message.result.ciphertext?.name ?? ''), 'Ada Lovelace');
    assert.equal(page.requested.length, 0);
  }
});

test('a page with the library of an earlier release still keeps cards in its vault', async () => {
  const page = await vault({ ...VALID, ...KEPT });
  page.post(earlierInit({ token: TOKEN }));
  type(page);
  page.element('form').fire('submit');
  await until(() => page.heard.some((message) => message.type === 'svc:result'));
});

test('takes no key from the page: an init that names another key ends the field before anything is sealed', async () => {
  const bundles = [
    named.bundle,
    foreign.bundle,
    { public_key_raw: thief.bundle.public_key_raw },
    { ...thief.bundle, key_ref: null },
    null,
    'kc',
  ];
  for (const load of [sealing, vault])
    for (const bundle of load === vault ? [...bundles, own.bundle] : bundles) {
      const page = await load();
      type(page);
      page.post(init({ bundle, token: TOKEN }));
      page.post({ type: 'svc:submit' });
      await until(() => errorOf(page));
      assert.equal(errorOf(page)?.type, 'invalid_request');
      assert.match(errorOf(page)?.message ?? '', /takes no key from the page/);
      nothingLeft(page);
    }
});

test('a machine that has no check, as one of an earlier release, gets no number: the person may try again', async () => {
  const answers: Answers = { ...KEPT };
  const page = await vault(answers);
  page.post(init({ token: TOKEN }));
  type(page);
  page.element('form').fire('submit');
  await until(() => /Try again in a minute/.test(page.element('status').textContent) && page.element('submit').disabled === false);
  assert.ok(page.requested.every(({ path }) => path === '/v1/client/check'));
  assert.equal(errorOf(page), undefined, 'the page needs no other field');
  assert.equal(page.element('number').value, CARD);
  Object.assign(answers, VALID);
  page.element('form').fire('submit');
  await until(() => page.heard.some((message) => message.type === 'svc:result'));
});

test('refuses a client token of another workspace before the number is sent anywhere', async () => {
  const page = await vault({ ...refusedBy('invalid_client_token'), ...KEPT });
  type(page);
  page.post(init({ token: FOREIGN }));
  page.post({ type: 'svc:submit' });
  page.element('form').fire('submit');
  await until(() => errorOf(page));
  assert.equal(errorOf(page)?.type, 'invalid_client_token');
  for (const one of page.requested)
    assert.deepEqual(one, {
      path: '/v1/client/check',
      authorization: `Bearer ${FOREIGN}`,
      parent: PAGE,
      body: { workspace: WORKSPACE, action: 'tokenize' },
    });
  nothingLeft(page);
});

test('sends the number only after its token was checked, also when the check had to be repeated', async () => {
  const answers: Answers = {
    '/v1/client/check': { status: 429, body: { error: { type: 'rate_limit_exceeded', message: 'Wait.' } } },
    ...KEPT,
  };
  const page = await vault(answers);
  page.post(init({ token: TOKEN }));
  await until(() => page.element('status').textContent === 'Wait.');
  type(page);
  page.element('form').fire('submit');
  await until(() => page.requested.length === 2 && page.element('status').textContent === 'Wait.');
  assert.equal(page.element('number').value, CARD, 'the person may try again');
  Object.assign(answers, VALID);
  page.element('form').fire('submit');
  await until(() => page.heard.some((message) => message.type === 'svc:result'));
  assert.deepEqual(
    page.requested.map(({ path }) => path),
    ['/v1/client/check', '/v1/client/check', '/v1/client/check', '/v1/client/tokenize'],
  );
});

test('a card that is sent while its token is still being checked is kept, and the token is checked once', async () => {
  const page = await vault({ ...VALID, ...KEPT });
  page.post(init({ token: TOKEN }));
  assert.equal(page.element('submit').disabled, false, 'Enter sends no form whose button is disabled');
  type(page);
  page.element('form').fire('submit');
  await until(() => page.heard.some((message) => message.type === 'svc:result'));
  assert.deepEqual(
    page.requested.map(({ path }) => path),
    ['/v1/client/check', '/v1/client/tokenize'],
  );
});

test('hears one init: a second one ends the field and is reported', async () => {
  const page = await vault({ ...VALID, ...KEPT });
  page.post(init({ token: TOKEN }));
  await until(() => !page.element('submit').disabled);
  type(page);
  page.post(init({ token: FOREIGN }));
  page.element('form').fire('submit');
  page.post({ type: 'svc:submit' });
  assert.equal(errorOf(page)?.type, 'field_already_mounted');
  assert.equal(page.element('submit').disabled, true);
  nothingLeft(page);
  assert.deepEqual(
    page.requested.map(({ authorization }) => authorization),
    [`Bearer ${TOKEN}`],
  );
});

test('a second init while the token is being checked ends the field for good', async () => {
  const page = await vault({ ...VALID, ...KEPT });
  page.post(init({ token: TOKEN }));
  page.post(init({ token: FOREIGN }));
  await until(() => page.requested.length === 1);
  await new Promise((turn) => setImmediate(turn));
  assert.equal(page.element('submit').disabled, true);
  assert.match(page.element('status').textContent, /can no longer be used/);
});

test('a second init while the card is being kept leaves the page without a result', async () => {
  const page = await vault({ ...VALID, ...KEPT });
  page.post(init({ token: TOKEN }));
  await until(() => !page.element('submit').disabled);
  type(page);
  page.element('form').fire('submit');
  page.post(init({ token: FOREIGN }));
  await until(() => page.requested.length === 2);
  await until(() => page.element('submit').getAttribute('aria-busy') === null);
  assert.deepEqual(
    page.heard.map(({ type }) => type),
    ['svc:ready', 'svc:error'],
  );
  assert.match(page.element('status').textContent, /can no longer be used/);
});

test('which of key and token a field takes is said by its document, not by the page', async () => {
  const sealer = await sealing();
  sealer.post(init({ token: TOKEN }));
  await until(() => errorOf(sealer));
  const keeper = await vault(VALID);
  keeper.post(init({ role: 'pci' }));
  await until(() => errorOf(keeper));
  for (const page of [sealer, keeper]) {
    assert.equal(errorOf(page)?.type, 'invalid_request');
    assert.deepEqual(page.requested, []);
  }
});

test('hears neither another window, nor another origin, nor a page that says it is another one', async () => {
  const page = await sealing();
  page.post(init(), { source: {} });
  page.post(init(), { origin: 'https://evil.example' });
  page.post(init({ origin: 'https://evil.example' }));
  page.post('svc:init');
  page.post({ type: 'svc:other', origin: PAGE });
  assert.equal(page.element('submit').disabled, true);
  page.post(init());
  await until(() => !page.element('submit').disabled);
  assert.equal(errorOf(page), undefined, 'what was not heard is no first init');
});

test('a reveal shows nothing of another workspace, and ends with a second init', async () => {
  const opened = { '/v1/client/detokenize': { status: 200, body: { data: { value: CARD } } } };
  const load = (answers: Answers) => field('reveal', { 'svc-workspace': WORKSPACE, 'svc-bundle': '' }, { ...opened, ...answers });
  const foreign = await load(refusedBy('invalid_client_token'));
  foreign.post(init({ token: FOREIGN, data: 'tok_1' }));
  await until(() => errorOf(foreign));
  assert.deepEqual(
    foreign.requested.map(({ path, body }) => [path, body]),
    [['/v1/client/check', { workspace: WORKSPACE, action: 'detokenize' }]],
  );
  const page = await load(VALID);
  page.post(init({ token: TOKEN, data: 'tok_1' }));
  await until(() => page.element('value').textContent === CARD);
  assert.deepEqual(page.heard.at(-1), { type: 'svc:shown' });
  page.post(init({ token: FOREIGN, data: 'tok_2' }));
  assert.equal(page.element('value').textContent, '');
  assert.equal(errorOf(page)?.type, 'field_already_mounted');
  assert.ok(!JSON.stringify(page.heard).includes('4242'));
});
