import assert from 'node:assert/strict';
import { test } from 'node:test';
import { graphOf } from '#server/domain/workflows/definition.shared.ts';
import { problemsOf, secretsNamed } from '#server/domain/workflows/publishable.shared.ts';
import { TEMPLATE_CARDS } from './template-cards.ts';
import { TEMPLATES } from './templates.ts';

for (const { id, definition, secrets, routes } of TEMPLATES)
  test(`the template ${id} can be published in Live once what it names is there`, () => {
    const errors = (known: readonly string[]) =>
      problemsOf(definition, { sandbox: false, routes: new Set(known), environments: new Set(['production']) }).filter(
        ({ severity }) => severity === 'error',
      );
    assert.deepEqual(errors(routes), []);
    if (routes.length > 0) assert.notDeepEqual(errors([]), [], 'it says which routes it needs');
    const named = secretsNamed(graphOf(definition));
    assert.deepEqual([...new Set(named.map(({ secret }) => secret))].sort(), [...secrets].sort());
  });

test('each card has its template', () => {
  assert.deepEqual(
    TEMPLATE_CARDS.map(({ value }) => value),
    TEMPLATES.map(({ id }) => id),
  );
});
