import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import test from 'node:test';
import type { Family } from '#server/kernel/family.ts';
import { families } from './families.ts';

const list: readonly Family[] = families;

test('every folder with operations or a descriptor is a family of the list', () => {
  const folders = globSync('server/domain/*/{operations,person-operations,family}.ts').map((file) => file.split('/')[2]);
  assert.deepEqual([...new Set(folders)].sort(), list.map(({ name }) => name).sort());
});

test('a family with a tag has descriptions, and a family with operations its fixed files', () => {
  for (const { name, tag, operations, descriptions } of list) {
    assert.equal(tag === undefined, descriptions === undefined, name);
    if (operations) assert.ok(existsSync(`server/domain/${name}/operations.ts`), name);
  }
});
