import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import type { AnyOperation } from '#server/kernel/operation.ts';
import type { Subject } from './subject.ts';

/** Which fields carry secrets is a promise: marks drive redaction, the document, and how a stored answer is sealed. A fixture changes on purpose only. */
export function secretMarks({ rows, fixture }: Subject): void {
  test('what a caller gives in secret, and what is shown once, is marked so', () => {
    assert.deepEqual(listed(rows, 'input', 'x-secret'), fixture.secretInput ?? {});
    assert.deepEqual(listed(rows, 'output', 'x-shown-once'), fixture.shownOnce ?? {});
    // A read may repeat what its own caller just sent: a proposal contains the credentials of the pasted command. A use is sealed twice whatever it shows.
    for (const op of rows.filter(({ kind }) => kind !== 'read' && kind !== 'use'))
      assert.equal(op.kind === 'mint', marked(op.output, 'output', 'x-shown-once').length > 0, op.id);
  });
}

const listed = (operations: readonly AnyOperation[], io: 'input' | 'output', mark: string) =>
  Object.fromEntries(operations.map((op) => [op.id, marked(op[io], io, mark)] as const).filter(([, paths]) => paths.length > 0));

/** Paths of the fields with a mark, `input` or `output` side, in the order of the schema. */
export function marked(schema: z.ZodType, io: 'input' | 'output', mark: string): string[] {
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
