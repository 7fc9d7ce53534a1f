import assert from 'node:assert/strict';
import test from 'node:test';
import { refusedFields } from './refusal.ts';

const isField = (name: string) => ['name', 'host', 'limits'].includes(name);
const fieldsOf = (message: string) => refusedFields({ type: 'validation_error', message }, isField);

test('a validation message lands on the field it begins with', () => {
  assert.deepEqual(fieldsOf('host: must be https'), { host: 'Must be https' });
  assert.deepEqual(fieldsOf('limits.per_minute: too small'), { 'limits.per_minute': 'Too small' });
  assert.deepEqual(
    fieldsOf('host: regex_unsupported: uses look-around'),
    { host: 'Uses look-around' },
    'the word for programs is left out',
  );
  assert.deepEqual(fieldsOf('name is already taken'), { name: 'name is already taken' });
});

test('a message about no field of this form is left for the top of the form', () => {
  for (const message of ['You have no permission', 'constructor: nope', '__proto__: nope', 'slug: taken', '', ':', 'name:']) {
    assert.deepEqual(fieldsOf(message), {}, message);
  }
});

test('fields the server names and the form does not have are not lost silently', () => {
  assert.deepEqual(refusedFields({ type: 'x', message: 'm', fields: { slug: 'taken' } }, isField), {});
  assert.deepEqual(refusedFields({ type: 'x', message: 'm', fields: { slug: 'taken', name: 'short' } }, isField), { name: 'short' });
});
