import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { Refusal } from '#server/kernel/errors.ts';
import { asOurs } from '#server/kernel/outage.ts';
import { isCounted, tellOutages } from './outage-lines.ts';

type Line = { details: Record<string, unknown>; message: string };

/** The lines that are written of what is logged, as `log` does it. */
function written() {
  const lines: Line[] = [];
  const write = (details: object, message: string) => void lines.push({ details: details as Line['details'], message });
  return {
    lines,
    log(details: object, message: string) {
      if (!isCounted([details, message], write)) write(details, message);
    },
  };
}

const refused = () => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });

test('an outage is told once a minute with how often it was met, and again from the start once it is over', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const { lines, log } = written();
  for (let call = 0; call < 1_000; call++) log({ err: refused(), call }, 'a call failed');
  log({ err: new Refusal('dependency_unavailable', 'away') }, 'a poll failed');
  assert.deepEqual(
    lines.map(({ message, details }) => [message, details.repeated]),
    [
      ['a call failed', undefined],
      ['a poll failed', undefined],
    ],
  );
  t.mock.timers.tick(60_000);
  assert.deepEqual([lines.length, lines[2]?.message, lines[2]?.details.repeated, lines[2]?.details.call], [3, 'a call failed', 999, 999]);
  assert.equal(lines[2]?.details.since, new Date(0).toISOString());
  for (let call = 0; call < 5; call++) log({ err: refused() }, 'a call failed');
  assert.equal(lines.length, 3);
  t.mock.timers.tick(60_000);
  assert.equal(lines[3]?.details.repeated, 5);
  t.mock.timers.tick(60_000);
  assert.equal(lines.length, 4, 'silence is not told');
  log({ err: refused() }, 'a call failed');
  assert.equal(lines.length, 5, 'a later outage is told at once');
  tellOutages();
});

test('what is no outage is never held back', () => {
  const { lines, log } = written();
  const failure = new TypeError('x is not a function');
  for (let i = 0; i < 3; i++) log({ err: failure }, 'request failed');
  for (let i = 0; i < 3; i++) log({ lost: i }, 'rows were lost');
  for (let i = 0; i < 3; i++) log({ err: Object.assign(new Error('duplicate key'), { code: '23505' }) }, 'refused by the database');
  assert.equal(lines.length, 9);
});

test('lines about the systems of others are counted for each by itself, and our own outage for all together', () => {
  const { lines, log } = written();
  for (const err of [refused(), Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })])
    for (let call = 0; call < 5; call++)
      for (const tenant_id of ['tenant_a', 'tenant_b']) log({ err, tenant_id, request_id: `req_${call}` }, 'an upstream failed');
  assert.deepEqual(
    lines.map(({ details }) => details.tenant_id),
    ['tenant_a', 'tenant_b'],
  );
  for (let i = 0; i < 6; i++) log({ err: Object.assign(new Error('x'), { code: 'ENOTFOUND' }), host: `h${i % 3}` }, 'no such host');
  assert.equal(lines.length, 5, 'a name that is not found, once for each');
  for (const tenant_id of ['tenant_a', 'tenant_b']) log({ err: asOurs(refused()), tenant_id }, 'cannot read');
  assert.equal(lines.length, 6);
  tellOutages();
});

test('messages that hold names do not fill memory', () => {
  const { lines, log } = written();
  for (let i = 0; i < 1_000; i++) for (let n = 0; n < 2; n++) log({ err: refused() }, `job ${i} failed`);
  assert.ok(lines.length >= 1_000 && lines.length <= 2_000);
  tellOutages();
});

test('the log of a process counts by itself, whoever writes, and never holds back a line that is fatal or no failure', () => {
  const code = `const { log } = await import(${JSON.stringify(import.meta.resolve('./log.ts'))});
    const away = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    for (let i = 0; i < 3; i++) log.fatal({ err: away() }, 'ended');
    for (let i = 0; i < 50; i++) log.warn({ err: away() }, 'cannot write');
    for (let i = 0; i < 50; i++) log.error(away(), 'cannot read');
    for (let i = 0; i < 3; i++) log.info({ err: away() }, 'told');
    const { tellOutages } = await import(${JSON.stringify(import.meta.resolve('./outage-lines.ts'))});
    tellOutages();`;
  const { stdout } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code], {
    encoding: 'utf8',
    env: { ...process.env, LOG_LEVEL: 'info' },
  });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string; repeated?: number });
  const of = (msg: string) => lines.filter((line) => line.msg === msg).map(({ repeated }) => repeated ?? null);
  assert.deepEqual(
    [of('cannot write'), of('cannot read')],
    [
      [null, 49],
      [null, 49],
    ],
  );
  assert.deepEqual([of('told').length, of('ended').length], [3, 3]);
});
