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

test('a key given as a shell variable is expanded by the shell and not written out', () => {
  const command = curlOf({ method: 'GET', url: 'https://api.example/v1/routes', headers: { Authorization: 'Bearer $KEY' } });
  assert.ok(!command.includes('k1'));
  assert.deepEqual(argumentsOf(command), ['https://api.example/v1/routes', '-H', 'Authorization: Bearer k1']);
});
