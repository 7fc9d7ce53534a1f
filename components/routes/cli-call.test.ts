import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { cliOf } from '#components/shell/cli.ts';
import { cliCall } from './cli-call.ts';

/** What a shell makes of a command. */
const words = (code: string) =>
  execFileSync('bash', ['-c', `service-cli() { printf '%s\\0' "$@"; }; ${code}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

test('a call is a command whose words a shell leaves as they are', () => {
  const hostile = `it's $(id) \`id\` "x" \\ {"a":1}`;
  const [snippet] = cliCall('orders', 'staging', { method: 'PUT', path: `/x?q=${hostile}`, headers: { 'X-A': hostile }, body: hostile });
  assert.deepEqual(words(snippet?.code ?? ''), [
    ...['call', 'orders', `/x?q=${hostile}`, '-X', 'PUT', '--environment', 'staging', '-H', `X-A: ${hostile}`, '--data', hostile],
  ]);
  const body = { text: hostile };
  assert.deepEqual(words(cliOf('PATCH', '/routes/1', body).code), ['api', 'PATCH', '/routes/1', '--data', JSON.stringify(body)]);
});

test('the usual method and the credential are left out, and a body that would name a file has no command', () => {
  assert.equal(cliCall('orders', undefined)[0]?.code, 'service-cli call orders /');
  const headers = { 'X-Svc-Key': '$SALLYPORT_KEY' };
  assert.equal(
    cliCall('orders', undefined, { method: 'POST', path: '/a', body: '{}', headers })[0]?.code,
    "service-cli call orders /a --data '{}'",
  );
  assert.deepEqual(cliCall('orders', undefined, { method: 'POST', path: '/a', body: '@file' }), []);
  assert.deepEqual(cliCall('orders', undefined, { method: 'POST', path: '/a', body_options: ['-F', 'x=y'] }), []);
});
