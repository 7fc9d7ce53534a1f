import assert from 'node:assert/strict';
import test from 'node:test';
import { pickerOf } from './field-picker.ts';
import { idPickers } from './id-pickers.ts';

const of = (name: string) => idPickers[name]?.list;

test('a field takes the IDs of the family it is named after, and `id` those of its own path', () => {
  assert.equal(pickerOf('route_id', '/clients/{id}')?.list, of('routes'));
  assert.equal(pickerOf('routeId', '/sandbox')?.list, of('routes'));
  assert.equal(pickerOf('id', '/clients/{id}')?.list, of('clients'));
  assert.equal(pickerOf('id', '/api-keys/{id}')?.list, of('api-keys'));
  assert.equal(pickerOf('id', '/roles/{id}'), undefined);
  assert.equal(pickerOf('name', '/routes'), undefined);
  assert.equal(pickerOf('name', '/crypto/keys'), undefined);
  assert.deepEqual(
    [pickerOf('name', '/crypto/keys/{name}')?.list, pickerOf('name', '/crypto/keys/{name}')?.byName],
    [of('crypto-keys'), true],
  );
  assert.equal(pickerOf('name', '/pki/roots/{name}/issue/{role}')?.list, of('pki'));
  assert.equal(pickerOf('id', '/pki/roots/{name}/intermediates/{id}/revoke'), undefined);
});

test('environments are chosen by name, except for the ID of a base environment', () => {
  assert.equal(pickerOf('id', '/environments/{id}')?.byName, true);
  assert.equal(pickerOf('environment', '/routes')?.byName, true);
  assert.equal(pickerOf('base_environment_id', '/routes')?.byName, false);
});

test('no two families claim one field', () => {
  const fields = Object.values(idPickers)
    .flatMap((picker) => [...picker.fields, ...(picker.nameFields ?? [])])
    // These are told apart by the path.
    .filter((field) => field !== 'id' && field !== 'name');
  assert.equal(new Set(fields).size, fields.length);
});
