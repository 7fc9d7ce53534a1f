import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';

test('what packages print is a line of the log each, and an outage among it is counted', () => {
  const code = `const { logConsole } = await import(${JSON.stringify(import.meta.resolve('./console-lines.ts'))});
    logConsole();
    const away = () => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
    for (let i = 0; i < 10; i++) console.error('\\u001b[31m⨯\\u001b[39m', away());
    for (let i = 0; i < 10; i++) console.trace(away());
    console.warn('%s is %d', 'it', 1);
    console.log('✓ Running next.config.ts took 39ms');
    console.log('');`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code], {
    encoding: 'utf8',
    env: { ...process.env, LOG_LEVEL: 'info' },
  });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: string; msg: string; printed?: string });
  assert.deepEqual(
    lines.map(({ level, msg, printed }) => [level, msg, printed]),
    [
      ['error', 'a package reported a failure', '⨯'],
      ['warn', 'a package reported a failure', undefined],
      ['warn', 'it is 1', undefined],
    ],
  );
  assert.equal(stderr, '');
});
