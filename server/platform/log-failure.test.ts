import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import test from 'node:test';

type Line = {
  msg: string;
  level: string;
  repeated?: number;
  request_id?: string;
  err: { message: string; stack?: string; refusal?: string };
};

/** The lines that a process writes for 50 calls that fail alike, of each kind. */
function written(): Line[] {
  const at = (file: string) => JSON.stringify(import.meta.resolve(file));
  const code = `const { logFailure } = await import(${at('./log-failure.ts')});
    const { log } = await import(${at('./log.ts')});
    const { Refusal } = await import(${at('../kernel/errors.ts')});
    const { asOurs } = await import(${at('../kernel/outage.ts')});
    const { WorkTooSlow } = await import(${at('./threads/pool.ts')});
    const failures = {
      busy: () => new Refusal('dependency_unavailable', 'Too many requests of this kind are in progress.'),
      sealed: () => new Refusal('tenant_sealed', 'sealed', { cause: new Error('no key') }),
      away: () => asOurs(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })),
      theirs: () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
      fault: () => new TypeError('x is not a function'),
      caller: () => new Refusal('not_found', 'No such path.'),
    };
    for (let i = 0; i < 50; i++) {
      for (const [name, make] of Object.entries(failures)) logFailure(make(), 'req_' + i, name);
      log.warn({ err: new WorkTooSlow('slow'), request_id: 'req_' + i }, 'bound');
      log.warn({ fault: 'refused', agent_id: 'a', request_id: 'req_' + i }, 'unnamed');
    }
    for (const make of [failures.busy, failures.sealed]) for (let i = 0; i < 2; i++) logFailure(make(), 'req', 'same words');
    const { tellOutages } = await import(${at('./outage-lines.ts')});
    tellOutages();`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code], {
    encoding: 'utf8',
    env: { ...process.env, LOG_LEVEL: 'info' },
  });
  assert.equal(stderr, '');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

test('what callers can cause at will is told once a minute, without a stack where a bound did its work, and a fault of ours each time', () => {
  const lines = written();
  const of = (msg: string) => lines.filter((line) => line.msg === msg);
  for (const msg of ['busy', 'sealed', 'away', 'theirs', 'bound', 'unnamed'])
    assert.deepEqual(
      of(msg).map(({ repeated }) => repeated ?? 1),
      [1, 49],
      msg,
    );
  assert.deepEqual([of('fault').length, new Set(of('fault').map(({ request_id }) => request_id)).size, of('caller').length], [50, 50, 0]);
  assert.deepEqual(
    ['busy', 'sealed', 'away', 'fault'].map((msg) => of(msg)[0]?.level),
    ['warn', 'error', 'error', 'error'],
  );
  assert.deepEqual(
    ['busy', 'bound', 'sealed', 'away', 'fault'].map((msg) => of(msg)[0]?.err.stack !== undefined),
    [false, false, true, true, true],
  );
  assert.deepEqual([of('busy')[0]?.err.refusal, of('sealed')[0]?.err.refusal], ['dependency_unavailable', 'tenant_sealed']);
  assert.equal(of('same words').filter(({ repeated }) => repeated === undefined).length, 2, 'one refusal does not hide another');
});

test('every plane logs its failures in this way', () => {
  const sources = fs
    .globSync('server/**/*.ts')
    .filter((file) => !/\.(?:test|fixture)\.ts$/.test(file) && !/^server\/(?:generated|testing)\//.test(file));
  const own = sources.filter((file) => /status >= 500\)\s*log\.|refusal\.cause \?\? refusal/.test(fs.readFileSync(file, 'utf8')));
  assert.deepEqual(own, []);
});
