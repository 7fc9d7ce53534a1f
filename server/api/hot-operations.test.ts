import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import test from 'node:test';
import { hotOperations } from '#server/domain/hot-operations.ts';
import { v1Operations } from './operations.ts';

test('a hot operation is the very row of the operation table, of /v1, and only reads or uses keys', () => {
  assert.ok(hotOperations.length > 0);
  for (const op of hotOperations) {
    assert.ok((v1Operations as readonly unknown[]).includes(op), op.id);
    assert.match(op.kind, /^(?:read|use)$/, op.id);
    assert.match(op.http, /^(?:GET|POST) /, op.id);
  }
});

test('the hot.ts of every family is listed', async () => {
  const domain = new URL('../domain/', import.meta.url);
  const files = readdirSync(domain).map((family) => new URL(`${family}/hot.ts`, domain));
  for (const file of files.filter((one) => existsSync(one))) {
    const rows: unknown[] = Object.values((await import(file.href)) as object);
    assert.ok(rows.length > 0 && rows.every((row) => (hotOperations as readonly unknown[]).includes(row)), file.pathname);
  }
});
