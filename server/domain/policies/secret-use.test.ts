import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import test from 'node:test';

// Whatever stores that it uses a secret is a door by which one can leave, and must ask `assertUsesSecrets`.

/** Why a family may store a reference without asking. */
const REASONS: Readonly<Record<string, string>> = {
  clients: 'checks signatures with the secret and sends it nowhere',
  environments: 'copies what an environment sends to a new one, with its targets',
  sandbox: 'carries what is there to the other space, which takes sandbox:promote',
  secrets: 'a connection refers to its own client secret',
  signup: 'writes the demo of a new workspace',
};

type Source = { file: string; text: string };
const familyOf = (file: string) => file.split('/')[2] ?? '';

/** Families that store references to secrets and never ask whether the caller may use them. */
function doorsThatDontAsk(sources: readonly Source[]): string[] {
  const storing = sources
    .filter(({ text }) => /secret_references\.create|insert into secret_references/.test(text))
    .map(({ file }) => familyOf(file));
  const asking = new Set(sources.filter(({ text }) => /\bassertUsesSecrets\(/.test(text)).map(({ file }) => familyOf(file)));
  return [...new Set(storing)].filter((family) => !asking.has(family) && REASONS[family] === undefined).sort();
}

const sources = (): Source[] =>
  globSync('server/domain/*/**/*.ts')
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }));

test('every family that lets something use a secret asks whether the caller may', () => {
  const found = sources();
  assert.deepEqual(doorsThatDontAsk(found), []);
  const storing = new Set(found.filter(({ text }) => /secret_references/.test(text)).map(({ file }) => familyOf(file)));
  assert.deepEqual(
    Object.keys(REASONS).filter((family) => !storing.has(family)),
    [],
    'no reason is left over',
  );
});

test('a new family that stores a reference without asking is found', () => {
  const planted = { file: 'server/domain/planted/service.ts', text: 'await tx.secret_references.createMany({ data: rows });' };
  assert.deepEqual(doorsThatDontAsk([...sources(), planted]), ['planted']);
});
