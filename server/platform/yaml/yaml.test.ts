import assert from 'node:assert/strict';
import test from 'node:test';
import { run } from './yaml.thread.ts';

const json = (yaml: string) => JSON.stringify(run(yaml));

test('numbers keep the digits that they are written with, and names are what is written', () => {
  for (const [yaml, expected] of [
    ['7615917337495251231', '7615917337495251231'],
    ['[1.10, 2, -0, 1e400, 1E2]', '[1.10,2,-0,1e400,1E2]'],
    ['[+007, .50, 5., 0xFFFFFFFFFFFFFFFF, 0o17]', '[7,0.50,5,18446744073709551615,15]'],
    ['["1.10", text, true, ~]', '["1.10","text",true,null]'],
    ['{200: ok, 1.10: a, 7615917337495251231: b}', '{"200":"ok","1.10":"a","7615917337495251231":"b"}'],
    ['a: &x {n: 1.10}\nb: [*x, *x]', '{"a":{"n":1.10},"b":[{"n":1.10},{"n":1.10}]}'],
    ['__proto__: {z: 1.10}', '{"__proto__":{"z":1.10}}'],
    ['[.inf, -.inf, .nan]', '[null,null,null]'],
    ['[!!int 3, !!str 1.10]', '[3,"1.10"]'],
  ] as const)
    assert.equal(json(yaml), expected, yaml);
});

test('aliases that multiply, and what is no YAML, are errors', () => {
  const bomb = Array.from(
    { length: 9 },
    (_, i) =>
      `a${i}: &a${i} [${
        i === 0
          ? 'x'
          : Array(9)
              .fill(`*a${i - 1}`)
              .join()
      }]`,
  ).join('\n');
  assert.throws(() => run(bomb));
  assert.throws(() => run('a: [1, 2'));
});
