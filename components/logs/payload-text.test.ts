import assert from 'node:assert/strict';
import test from 'node:test';
import { payloadText } from './payload-text.ts';

test('a payload reads as a request and a response, JSON indented and everything else as it is', () => {
  const headers = [{ name: 'Accept', value: '*/*' }];
  assert.equal(
    payloadText({ request: { headers, body: '{"a":[1]}', encoding: 'text' }, response: { headers: [], body: '{"a":', encoding: 'text' } }),
    '— Request —\nAccept: */*\n\n{\n  "a": [\n    1\n  ]\n}\n\n— Response —\n\n{"a":',
  );
  assert.equal(
    payloadText({ request: { headers: [], body: null, encoding: null }, response: { headers: [], body: 'AAE=', encoding: 'base64' } }),
    '— Request —\n\n(no body)\n\n— Response —\n\n(binary: download it as a file)',
  );
});
