import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { operations } from './operations.ts';

// Which fields of which operations carry secrets is a promise: marks drive redaction, the document, and how a stored answer is sealed. Change the two lists
// on purpose only.

/** Paths of the fields with a mark, `input` or `output` side, in the order of the schema. */
function marked(schema: z.ZodType, io: 'input' | 'output', mark: string): string[] {
  const found = new Set<string>();
  const walk = (node: unknown, path: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties, items, anyOf, oneOf, allOf, additionalProperties, $defs } = node as Record<string, unknown>;
    if (mark in node) found.add(path);
    for (const [name, child] of Object.entries((properties ?? {}) as object)) walk(child, path ? `${path}.${name}` : name);
    for (const child of [anyOf, oneOf, allOf].flat()) walk(child, path);
    for (const child of Object.values(($defs ?? {}) as object)) walk(child, path);
    walk(items, `${path}[]`);
    walk(additionalProperties, `${path}.*`);
  };
  walk(z.toJSONSchema(schema, { io, unrepresentable: 'any' }), '');
  return [...found].sort();
}

const listed = (io: 'input' | 'output', mark: string) =>
  Object.fromEntries(operations.map((op) => [op.id, marked(op[io], io, mark)] as const).filter(([, paths]) => paths.length > 0));

test('what a caller gives in secret is marked so', () => {
  assert.deepEqual(listed('input', 'x-secret'), {
    'clients.create_credential': ['data.secret'],
    'import.apply': ['secrets[].value'],
    'import.propose': ['text'],
    'routes.test': ['headers[].value'],
    'sandbox.reset': ['password'],
    'secrets.create': ['value'],
    'secrets.import_env': ['content'],
    'secrets.put_value': ['value'],
    'signup.claim': ['claim_handle'],
  });
});

test('what is shown once is marked so, and its stored answer opens only with the key text that made it', () => {
  assert.deepEqual(listed('output', 'x-shown-once'), {
    'api_keys.create': ['api_key'],
    'api_keys.rotate': ['api_key'],
    'clients.create_credential': ['reveal.private_key_pem', 'reveal.secret'],
    'import.propose': ['routes[].sample_call.body', 'routes[].sample_call.body_options[]', 'secrets[].value'],
    'signup.claim': ['starter.api_key.api_key'],
    'signup.start': ['claim_handle'],
  });
  // A read may repeat what its own caller just sent: a proposal contains the credentials of the pasted command.
  for (const op of operations.filter(({ kind }) => kind !== 'read'))
    assert.equal(op.kind === 'mint', marked(op.output, 'output', 'x-shown-once').length > 0, op.id);
});
