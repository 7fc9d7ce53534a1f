import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { dependencyViolations, type Manifest } from './dependencies.ts';

const manifest: Manifest = { scripts: {}, developmentCommands: [], dependencies: { pg: '1', typescript: '1' }, optionalDependencies: {} };

test('the packages of the product are those that it uses', () => assert.deepEqual(dependencyViolations(), []));

test('a package of development that the product uses is a violation, by its file', () => {
  const [found, ...others] = dependencyViolations(
    manifest,
    new Map([
      ['pg', 'server/a.ts'],
      ['fastify', 'server/b.ts'],
    ]),
  );
  assert.match(found ?? '', /^server\/b\.ts uses fastify,/);
  assert.deepEqual(others, []);
});

test('a dependency that only tests use is a violation', () => {
  const [found, ...others] = dependencyViolations(manifest, new Map());
  assert.match(found ?? '', /^pg is in dependencies,/);
  assert.deepEqual(others, [], 'but not what Next wants to be there');
});

test('imports, paths of tools, plugins and style sheets count; types and tests do not', () => {
  const read = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  const taken = ['pg', 'tailwindcss', '@tailwindcss/postcss', '@prisma/client', 'typescript'];
  const left = Object.entries(read.dependencies).filter(([name]) => !taken.includes(name));
  const found = dependencyViolations({ ...read, dependencies: Object.fromEntries([...left, ['fastify', '1']]) });
  for (const name of taken)
    assert.ok(
      found.some((violation) => violation.includes(` uses ${name},`)),
      name,
    );
  assert.ok(
    found.some((violation) => violation.startsWith('fastify is in dependencies')),
    'only tests use it',
  );
  assert.equal(found.length, 6);
});
