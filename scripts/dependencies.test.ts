import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { dependencyViolations } from './dependencies.ts';

const manifest = { scripts: {}, dependencies: { pg: '1', typescript: '1' }, optionalDependencies: {} };

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
  const without = (name: string) => {
    const { [name]: _, ...dependencies } = read.dependencies;
    return dependencyViolations({ ...read, dependencies });
  };
  const read = JSON.parse(readFileSync('package.json', 'utf8')) as typeof manifest & { dependencies: Record<string, string> };
  for (const name of ['pg', 'tailwindcss', '@tailwindcss/postcss', '@prisma/client-generator-ts', '@prisma/client', 'typescript'])
    assert.ok(
      without(name).some((violation) => violation.includes(` uses ${name},`)),
      name,
    );
  const more = { ...read, dependencies: { ...read.dependencies, fastify: '1' } };
  assert.ok(
    dependencyViolations(more).some((violation) => violation.startsWith('fastify is in dependencies')),
    'only tests use it',
  );
});
