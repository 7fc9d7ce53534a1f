import assert from 'node:assert/strict';
import test from 'node:test';
import { testUri, urisOf, urisProblem } from './redirect-uri-text.ts';

test('each line is a URI; the first that cannot be registered is named with the reason', () => {
  assert.deepEqual(urisOf(' https://a.example/cb \n\nhttps://b.example/cb\n'), ['https://a.example/cb', 'https://b.example/cb']);
  assert.equal(urisProblem('https://a.example/cb', 'confidential'), undefined);
  assert.match(
    urisProblem('https://a.example/cb\nhttp://127.0.0.1/cb', 'confidential') ?? '',
    /^http:\/\/127\.0\.0\.1\/cb: .*public clients/,
  );
  assert.match(urisProblem(Array.from({ length: 21 }, (_, i) => `https://a${i}.example/`).join('\n'), 'public') ?? '', /At most 20/);
});

test('the tester says which registered URI lets an address through, or what is wrong with it', () => {
  const registered = ['https://a.example/cb', 'http://127.0.0.1/cb'];
  assert.deepEqual(testUri('http://127.0.0.1:50123/cb', registered, 'public'), { ok: true, by: 'http://127.0.0.1/cb' });
  assert.match((testUri('http://localhost:50123/cb', registered, 'public') as { why: string }).why, /isn’t equal/);
  assert.match((testUri('http://127.0.0.1@evil.example/cb', registered, 'public') as { why: string }).why, /user name/);
});
