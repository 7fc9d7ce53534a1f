import assert from 'node:assert/strict';
import test from 'node:test';
import { deviceOf, isPhone } from './device.ts';

test('a browser that claims to be others is still named rightly', () => {
  assert.equal(
    deviceOf(
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    ),
    'Edge on Windows',
  );
  assert.equal(
    deviceOf('Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15'),
    'Safari on macOS',
  );
  assert.equal(deviceOf('Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'), 'Firefox on Linux');
});

test('an unknown program is shown as it came, cut, and a missing one is said', () => {
  assert.equal(deviceOf('x'.repeat(200)).length, 80);
  assert.equal(deviceOf(null), 'Unknown device');
});

test('a phone is told from a desk', () => {
  assert.equal(isPhone('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)'), true);
  assert.equal(isPhone(null), false);
});
