import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processState } from './process-state.ts';

const anotherCopy = (await import(`./process-state.ts?copy=${1}`)) as typeof import('./process-state.ts');

test('two copies of the code share one state, which the first caller creates', () => {
  const first = processState('test-shared', () => ({ n: 1 }));
  const second = anotherCopy.processState('test-shared', () => ({ n: 2 }));
  assert.equal(first, second);
  assert.equal(second.n, 1);
  assert.notEqual(
    anotherCopy.processState('test-other', () => ({ n: 2 })),
    first,
  );
});

test('an error of the shared keyring is recognised by every copy of its class', async () => {
  const [keys, otherKeys] = [
    await import('../crypto/keyring.ts'),
    (await import(`../crypto/keyring.ts?copy=${1}`)) as typeof import('../crypto/keyring.ts'),
  ];
  assert.notEqual(keys.TenantKeyUnavailable, otherKeys.TenantKeyUnavailable);
  assert.ok(new otherKeys.TenantKeyUnavailable('missing') instanceof keys.TenantKeyUnavailable);
  assert.ok(!(new Error('x') instanceof keys.TenantKeyUnavailable));
  const [svt, otherSvt] = [
    await import('../crypto/svt1.ts'),
    (await import(`../crypto/svt1.ts?copy=${1}`)) as typeof import('../crypto/svt1.ts'),
  ];
  assert.ok(new otherSvt.DecryptFailed() instanceof svt.DecryptFailed);
});
