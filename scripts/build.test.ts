import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { buildInputs } from './build.ts';

const inputs = buildInputs();

test('a build is made from pages, settings, and what pages bring to browsers', () => {
  const expected = [
    'app/layout.tsx',
    'app/v1/[[...path]]/route.ts',
    'components/environments/family.ts',
    'next.config.ts',
    'package-lock.json',
    'proxy.ts',
    'scripts/server-loader.mjs',
    'sdk/elements/encryptor.ts',
    'server/domain/environments/schema.ts',
    'server/domain/people/places.shared.ts',
    'server/kernel/fields.ts',
  ];
  assert.deepEqual(
    expected.filter((file) => !inputs.includes(file)),
    [],
  );
  assert.deepEqual(
    inputs.filter((file) => !existsSync(file)),
    [],
  );
});

test('a build is not made from what Node loads', () => {
  assert.deepEqual(
    inputs.filter((file) => /^server\/(?:api|auth|crypto|gateway|jobs|oauth|platform|scim|trpc|generated)\//.test(file)),
    [],
  );
  assert.ok(!inputs.includes('server/domain/environments/service.ts'));
});
