import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { curlOf } from './curl.ts';

/** What a shell makes of the command, with curl replaced by something that prints its arguments. */
const argumentsOf = (command: string) =>
  execFileSync('/bin/sh', ['-c', `curl() { for a in "$@"; do printf '%s\\0' "$a"; done; }\n${command}`], {
    encoding: 'utf8',
    env: { ...process.env, KEY: 'k1' },
  })
    .split('\0')
    .slice(0, -1);

test('a shell reads back exactly the call that was meant, whatever the body holds', () => {
  const body = { name: 'it\'s $HOME `id` "q" \\ \n end', nested: { a: [1, null] } };
  const args = argumentsOf(curlOf({ method: 'POST', url: 'https://api.example/v1/routes?a=1&b=2', headers: { 'X-Note': "a'b$c" }, body }));
  assert.deepEqual(args.slice(0, 3), ['-X', 'POST', 'https://api.example/v1/routes?a=1&b=2']);
  assert.ok(args.includes("X-Note: a'b$c"));
  assert.deepEqual(JSON.parse(args.at(-1) ?? ''), body);
});

test('a body that is text is sent as it is, a form stays a form, and neither changes the method', () => {
  const url = 'https://api.example/x';
  assert.deepEqual(argumentsOf(curlOf({ method: 'GET', url, text: `it's $HOME\n` })), ['-X', 'GET', url, '-d', `it's $HOME\n`]);
  assert.deepEqual(argumentsOf(curlOf({ method: 'POST', url, text: '@me' })).slice(-2), ['--data-raw', '@me']);
  const options = ['--form', 'file=@cat.png', '--form', "note=it's"];
  assert.deepEqual(argumentsOf(curlOf({ method: 'POST', url, options })), ['-X', 'POST', url, ...options]);
  assert.deepEqual(argumentsOf(curlOf({ method: 'HEAD', url, headers: { 'Accept-Encoding': 'br' } })), [
    '-I',
    url,
    '-H',
    'Accept-Encoding: br',
    '--compressed',
  ]);
});

test('a key given as a shell variable is expanded by the shell and not written out', () => {
  const command = curlOf({ method: 'GET', url: 'https://api.example/v1/routes', headers: { Authorization: 'Bearer $KEY' } });
  assert.ok(!command.includes('k1'));
  assert.deepEqual(argumentsOf(command), ['https://api.example/v1/routes', '-H', 'Authorization: Bearer k1']);
});

test('nothing a caller wrote into a call of the log runs on the machine of who repeats it, nor is its environment given away', () => {
  for (const asked of ['$KEY', '$KEY $(echo ran)', '`echo ran`', '"; echo ran; "', "'; echo ran; '", '${KEY}', 'Bearer $KEY']) {
    const command = curlOf({
      method: 'GET',
      url: `https://acme.example/orders/${asked}`,
      headers: { 'X-Svc-Key': '$KEY', 'X-Svc-Environment': asked },
    });
    assert.deepEqual(
      argumentsOf(command).filter((part) => part !== '-g'),
      [`https://acme.example/orders/${asked}`, '-H', 'X-Svc-Key: k1', '-H', `X-Svc-Environment: ${asked}`],
    );
  }
  const credential = curlOf({ method: 'GET', url: 'https://acme.example/', headers: { Authorization: 'Bearer $KEY$(echo ran)' } });
  assert.deepEqual(argumentsOf(credential).at(-1), 'Authorization: Bearer $KEY$(echo ran)');
});

test('brackets in a path are one call, not the thousand that curl would make of them', () => {
  assert.equal(curlOf({ method: 'GET', url: 'https://acme.example/x[1-1000]' }), "curl -g 'https://acme.example/x[1-1000]'");
});
