import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { scrub } from './log.ts';

const a = (length: number) => 'aB3'.repeat(length).slice(0, length);
const lower = (length: number) => 'ab3'.repeat(length).slice(0, length);

test('credentials known only by their place are masked', () => {
  const value = a(43);
  for (const line of [
    `GET https://x.test/auth/magic?token=${value}&x=1`,
    `GET /auth/oauth2/callback/a?state=${value}`,
    `GET /_capture/${value}`,
    `POST /wf/${value}`,
    `Authorization: Bearer ${value}`,
    `{"authorization":"Basic ${value}"}`,
    JSON.stringify({ inner: JSON.stringify({ Authorization: value }) }),
    `https://${lower(52)}.wrap.example.com/`,
    `postgresql://app:${value}@db/x`,
  ]) {
    const clean = scrub(line);
    assert.ok(!clean.includes(value) && !clean.includes(lower(52)), clean);
  }
});

test('ids, public names and transit ciphertexts stay readable', () => {
  for (const line of [
    `svc_client_${a(20)}`,
    `svc_agent_${a(22)}`,
    '0198f0b2-0000-7000-8000-000000000000',
    `tok_${'0A'.repeat(13)}`,
    'kc:v1:abc',
    'http://localhost:4000/v1',
    'mail a@b.test',
  ]) {
    assert.equal(scrub(line), line);
  }
});

test('a scrubbed JSON line is still JSON', () => {
  const line = JSON.stringify({
    u: 'http://h:80',
    x: 'y@z',
    q: '/a?token=x"y\\z',
    auth: 'authorization: abc"def',
    nested: JSON.stringify({ authorization: 'Bearer abc"', u: 'redis://:p"w@h' }),
  });
  assert.doesNotThrow(() => JSON.parse(scrub(line)));
});

test('a hostile line is scrubbed in linear time', async () => {
  for (const unit of ['a.', 'a-b+', 'http://', '?token=', 'authorization:', 'whsec_'])
    await assertGrowsLinearly(unit, 200_000, (size) => unit.repeat(size / unit.length), scrub);
});

test('the logger masks messages, fields, error texts and stacks', () => {
  const key = `ses_${a(49)}`;
  const code = `const { log } = await import(${JSON.stringify(import.meta.resolve('./log.ts'))});
    log.info({ nested: { deep: '${key}' } }, 'got ${key}'); log.error(new Error('bad ${key}', { cause: new Error('${key}') }));`;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', code], { env: { NODE_ENV: 'test' }, encoding: 'utf8' });
  const lines = run.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: string });
  assert.deepEqual(
    lines.map((line) => line.level),
    ['info', 'error'],
  );
  assert.ok(!run.stdout.includes(key) && run.stdout.includes('[redacted]'));
});

test('a line that holds a cut-off private key is still one line of JSON without the key', () => {
  const code = `const { log } = await import(${JSON.stringify(import.meta.resolve('./log.ts'))}); log.info({ pem: '-----BEGIN PRIVATE KEY-----\\nMIIEvQ', after: 1 }, 'x');`;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', code], { env: { NODE_ENV: 'test' }, encoding: 'utf8' });
  assert.equal((JSON.parse(run.stdout) as { level: string }).level, 'info');
  assert.ok(run.stdout.endsWith('}\n') && !run.stdout.includes('MIIEvQ'));
});
