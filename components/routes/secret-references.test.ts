import assert from 'node:assert/strict';
import test from 'node:test';
import { idsIn, withIds, withNames } from './secret-references.ts';

const STRIPE = '0b9c1f5e-1f2b-4c58-9a4e-3d3f7f0a1b2c';
const OTHER = '1b9c1f5e-1f2b-4c58-9a4e-3d3f7f0a1b2c';
const names = new Map([[STRIPE, 'STRIPE_KEY']]);

test('a secret that is stored by id is read by its name, and an unknown id stays', () => {
  const stored = `Bearer {{secret_id:${STRIPE.toUpperCase()}}} {{ secret_id : ${STRIPE} }} {{secret_id:${OTHER}}} {{secret:B}}`;
  assert.equal(withNames(stored, names), `Bearer {{secret:STRIPE_KEY}} {{secret:STRIPE_KEY}} {{secret_id:${OTHER}}} {{secret:B}}`);
  assert.deepEqual(idsIn(stored), [STRIPE, OTHER]);
});

test('what is typed around a secret keeps its id, and a name that is typed anew stays a name', () => {
  const stored = `Bearer {{secret_id:${STRIPE}}}`;
  const shown = withNames(stored, names);
  assert.equal(withIds(shown.replace('Bearer', 'Token'), stored, names), `Token {{secret_id:${STRIPE}}}`);
  assert.equal(withIds('{{secret:STRIPE_KEY}}', '', names), '{{secret:STRIPE_KEY}}');
  assert.equal(withIds('{{secret:OTHER}}', stored, names), '{{secret:OTHER}}');
});
