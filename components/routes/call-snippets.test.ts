import assert from 'node:assert/strict';
import test from 'node:test';
import { parseCurl } from '#server/domain/import/curl.ts';
import { proposeFromCurl } from '#server/domain/import/from-curl.ts';
import { addressings } from './addressing.ts';
import { callSnippets } from './call-snippets.ts';

const through = (command: string) => {
  const proposed = proposeFromCurl(command);
  assert.ok(proposed.ok);
  const [route] = proposed.proposal.routes;
  const { byPath, byHeader } = addressings({ proxyUrl: 'https://gw.test/p/acme', reference: 'pay', call: route?.sample_call });
  return { byPath: callSnippets(byPath), byHeader: callSnippets(byHeader) };
};
const read = (code: string) => {
  const parsed = parseCurl(code);
  assert.ok(parsed.ok, code);
  return parsed.call;
};

test('an imported command becomes the same call through the gateway, method, query, headers and body included', () => {
  const body = `{"note": "it's @ $HOME"}`;
  const { byPath, byHeader } = through(
    `curl -X PATCH 'https://api.example.com/v1/x?a=1&b=2' -H 'Authorization: Bearer hunter2' -H 'Accept: text/csv' --json '{"note": "it'\\''s @ $HOME"}'`,
  );
  assert.equal(byPath.length, 6);
  const call = read(byPath[0].code);
  assert.deepEqual([call.method, call.url, call.body], ['PATCH', 'https://gw.test/p/acme/pay/v1/x?a=1&b=2', body]);
  assert.deepEqual(Object.fromEntries(call.headers.map(({ name, value }) => [name, value])), {
    'X-Svc-Key': 'YOUR_KEY',
    Accept: 'text/csv',
    'Content-Type': 'application/json',
  });
  const inHeader = read(byHeader[0].code);
  assert.deepEqual([inHeader.url, inHeader.body], ['https://gw.test/p/acme/api/v1/x?a=1&b=2', body]);
  assert.doesNotMatch(JSON.stringify([byPath, byHeader]), /hunter2/);
});

test('a form, a file and a GET with a body are shown in curl alone', () => {
  for (const [options, shown] of [
    ['-F file=@cat.png -F kind=cat', ['--form', 'file=@cat.png', '--form', 'kind=cat']],
    ['--data-binary @rows.csv', ['--data-binary', '@rows.csv']],
  ] as const) {
    const { byPath } = through(`curl https://api.example.com/x ${options}`);
    assert.equal(byPath.length, 1);
    assert.deepEqual(read(byPath[0].code).bodyOptions, shown);
  }
  const { byPath } = through(`curl -X GET https://api.example.com/search -d 'q=1'`);
  assert.equal(byPath.length, 1);
  assert.deepEqual([read(byPath[0].code).method, read(byPath[0].code).body], ['GET', 'q=1']);
});

test('the method of a pasted command never becomes code', () => {
  const hostile = `GET.new(uri);system("id")#`;
  assert.equal(proposeFromCurl(`curl -X '${hostile}' https://api.example.com/x`).ok, false);
  for (const { id, code } of callSnippets({ method: hostile, url: 'https://gw.test/p', headers: {} }))
    assert.ok(!code.toLowerCase().includes('net::http::get.new(uri);system'), id);
  const [curl] = through(`curl -X PROPFIND https://api.example.com/x`).byPath;
  assert.equal(read(curl.code).method, 'PROPFIND');
});
