import assert from 'node:assert/strict';
import test from 'node:test';
import { lowerName } from './header-name.ts';

test('a name in any spelling has one lower-case form, and what is no token has none', () => {
  for (const name of ['X-Request-Id', 'x-request-id', 'X-REQUEST-ID']) assert.equal(lowerName(name), 'x-request-id');
  for (const name of ['', ' x', 'x:', 'x y', 'x\r\ny', 'x\0', 'ä', 'x(y)', 'constructor\n'])
    assert.equal(lowerName(name), '', JSON.stringify(name));
  assert.equal(lowerName('__proto__'), '__proto__');
  assert.equal(lowerName('constructor'), 'constructor');
});

test('more names than are remembered are read rightly all the same', () => {
  for (let i = 0; i < 5_000; i++) assert.equal(lowerName(`X-Made-Up-${i}`), `x-made-up-${i}`);
  assert.equal(lowerName(`X${'y'.repeat(8_000)}`), `x${'y'.repeat(8_000)}`);
  assert.equal(lowerName('X-Late'), 'x-late');
  assert.equal(lowerName('X Late'), '');
});
