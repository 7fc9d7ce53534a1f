import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { openApiText } from './document.ts';

test('the committed description is the one the operation table makes', () => {
  assert.ok(readFileSync('public/openapi.json', 'utf8') === openApiText(), 'run: npm run openapi');
});
