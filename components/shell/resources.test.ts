import assert from 'node:assert/strict';
import test from 'node:test';
import { families } from '#components/families.ts';
import { families as serverFamilies } from '#server/domain/families.ts';
import { inspectableResources, searchableResources } from '#server/domain/search/searchable.ts';
import { nounOf, pluralOf, promotedTypes, resourceOf } from './resources.ts';

test('everything that search finds has a heading and an icon, and everything that has an ID has a name', () => {
  for (const { type } of searchableResources(serverFamilies)) assert.ok(resourceOf(type)?.plural && resourceOf(type)?.icon, type);
  for (const { type } of inspectableResources(serverFamilies)) assert.ok(resourceOf(type), type);
});

test('no type is declared by two families, and a type that nobody declares is still readable', () => {
  const types = families.flatMap(({ resources }) => resources ?? []).map(({ type }) => type);
  assert.equal(new Set(types).size, types.length);
  assert.deepEqual([nounOf('api_key'), pluralOf('api_key')], ['API key', 'API keys']);
  assert.deepEqual([nounOf('vault_token'), pluralOf('vault_token'), resourceOf('vault_token')], ['vault token', 'vault tokens', undefined]);
});

test('what can be promoted has a page and names', () => {
  assert.ok(promotedTypes.length > 0);
  for (const type of promotedTypes) assert.ok(resourceOf(type)?.path && resourceOf(type)?.plural, type);
});
