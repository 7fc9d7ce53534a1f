import assert from 'node:assert/strict';
import test from 'node:test';
import { environmentLabel } from './environment-label.ts';

test('an environment inside Test never reads as production', () => {
  for (const name of ['production', 'Production', 'prod', 'live']) {
    assert.equal(environmentLabel(name, true), `${name} (Test)`);
    assert.equal(environmentLabel(name, false), name);
  }
  assert.equal(environmentLabel('staging', true), 'staging');
  assert.equal(environmentLabel('preproduction', true), 'preproduction');
});
