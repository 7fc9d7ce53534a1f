import assert from 'node:assert/strict';
import { createCipheriv, generateKeyPairSync, sign } from 'node:crypto';
import { test } from 'node:test';
import { canonicalJson, isSignedBy, keysOf, openSealed, sha256, signatureHeaders, windowKey } from './keys.ts';

const AGENT = 'svc_agent_9GJ2mZ0sQm3C1T7u4Yw8Kp';
const SECRET = 'svc_as_Zk3l9Qw2Xc8Vb5Nm1Ty7Ui4Op6As0DfGhJkLqWeRtYu';
const BODY = '{"mode":"intercept","version":"1.0.0"}';

test('derives the keys of the published vector', () => {
  const keys = keysOf(AGENT, SECRET);
  assert.equal(keys.auth.toString('hex'), '9f98d357a73ee7714a79af063757a40b9ff9c6ac165376c93759ee18e2ebdcbc');
  assert.equal(keys.root.toString('hex'), '0fd4b6803873abdd8f603a03d42d273b8378fb98881d8a1ffef894560cb28482');
  assert.equal(windowKey(keys, '2026-10-01T12').toString('hex'), '58c7e5774223e3862fadc01d02701ba999d8484ff955d01f83ab61a456ea13a6');
});

test('signs the request of the published vector', () => {
  assert.equal(sha256(BODY), 'b546d89caa9d3845093708daa53c6ae95ebd90e1d73c40d15b75c9050bec55e4');
  const headers = signatureHeaders(
    keysOf(AGENT, SECRET),
    { method: 'POST', path: '/agent/v1/session', body: BODY },
    1790856000,
    'b7c1a2d39e4f5061728394a5b6c7d8e9',
  );
  assert.deepEqual(headers, {
    'x-svc-agent-id': AGENT,
    'x-svc-agent-timestamp': '1790856000',
    'x-svc-agent-nonce': 'b7c1a2d39e4f5061728394a5b6c7d8e9',
    'x-svc-agent-signature': 'b5167bc1dd650e219e9a97d53388bfe57cae16ef569f98b53bf87e79274f9cad',
  });
});

test('no two requests share a nonce', () => {
  const keys = keysOf(AGENT, SECRET);
  const request = { method: 'POST', path: '/agent/v1/session', body: '' };
  const nonces = new Set(Array.from({ length: 100 }, () => signatureHeaders(keys, request)['x-svc-agent-nonce']));
  assert.equal(nonces.size, 100);
});

test('opens what was sealed for its window, and nothing of another window or other additional data', () => {
  const keys = keysOf(AGENT, SECRET);
  const nonce = Buffer.alloc(12, 7);
  const cipher = createCipheriv('aes-256-gcm', windowKey(keys, '2026-10-01T12'), nonce);
  cipher.setAAD(Buffer.from('t|a|s|1|2026-10-01T12'));
  const sealed = Buffer.concat([cipher.update('swordfish'), cipher.final(), cipher.getAuthTag()]).toString('base64');
  const open = (window: string, additional: string) => openSealed(windowKey(keys, window), nonce.toString('base64'), sealed, additional);
  assert.equal(open('2026-10-01T12', 't|a|s|1|2026-10-01T12').toString(), 'swordfish');
  assert.throws(() => open('2026-10-01T13', 't|a|s|1|2026-10-01T12'));
  assert.throws(() => open('2026-10-01T12', 't|a|s|2|2026-10-01T12'));
});

test('a bundle counts only with the signature of the control plane over every member', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const bundle = { v: 1, routes: [{ slug: 'pay', id: 'r1' }], window: '2026-10-01T12' };
  const sig = sign(null, Buffer.from(canonicalJson(bundle)), privateKey).toString('base64');
  assert.equal(isSignedBy(pem, { sig, ...bundle }), true);
  assert.equal(
    isSignedBy(pem, { window: bundle.window, sig, v: 1, routes: [{ id: 'r1', slug: 'pay' }] }),
    true,
    'the order of members says nothing',
  );
  assert.equal(isSignedBy(pem, { ...bundle, sig, window: '2026-10-01T13' }), false);
  assert.equal(isSignedBy(pem, { ...bundle, sig, more: 1 }), false);
  assert.equal(isSignedBy(other, { ...bundle, sig }), false);
  assert.equal(isSignedBy(pem, bundle), false);
  assert.equal(isSignedBy('no key', { ...bundle, sig }), false);
});

test('writes canonical JSON by RFC 8785', () => {
  assert.equal(
    canonicalJson({ '\u20ac': 'Euro', '\r': 1, '1': [1e30, 4.5, 0.002, null, true], b: undefined, a: { z: '\u000f\n"' } }),
    '{"\\r":1,"1":[1e+30,4.5,0.002,null,true],"a":{"z":"\\u000f\\n\\""},"€":"Euro"}',
  );
});
