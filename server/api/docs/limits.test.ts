import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { MESSAGE_SHAPE as AI_SHAPE } from '#server/ai/json.ts';
import { LARGEST as LARGEST_PROGRAM } from '#server/ai/patterns/compile.ts';
import { MOST_WORDS } from '#server/ai/pii/recognizer.ts';
import { MOST_WORK as MOST_CHECKING } from '#server/ai/schema/check.ts';
import { SCHEMA_LIMITS } from '#server/ai/schema/shape.ts';
import * as controls from '#server/domain/ai-controls/schema.ts';
import { MOST_BYTES } from '#server/domain/workflows/definition.shared.ts';
import { MOST_TEXT, MOST_WORK } from '#server/domain/workflows/expressions/meter.shared.ts';
import { SCAN_LIMIT } from '#server/gateway/templates/body-scan.ts';
import { DEEPEST, MOST_MEMBERS } from '#server/gateway/templates/json-bytes.ts';
import { BODY_SHAPE } from '#server/kernel/bounded-text.ts';
import { grouped, sizeText } from '#server/kernel/numbers.ts';
import { MESSAGE_SHAPE as MCP_SHAPE } from '#server/mcp/upstream/message-reader.ts';
import { BODY_LIMIT } from '../input.ts';
import { docsPage } from './pages.ts';

/** By the first cell of a row, what its second must say. */
const ROWS: Readonly<Record<string, readonly string[]>> = {
  'A body': [sizeText(BODY_LIMIT)],
  'A JSON body': [`${BODY_SHAPE.levels} levels`, grouped(BODY_SHAPE.values)],
  'A JSON body that a route adds to': [`${grouped(DEEPEST)} levels`, `${grouped(MOST_MEMBERS)} members`],
  'A body with placeholders': [sizeText(SCAN_LIMIT)],
  'A definition': [sizeText(MOST_BYTES)],
  'The work of one step': [grouped(MOST_WORK)],
  'One text': [sizeText(MOST_TEXT)],
  'A schema': [
    `${SCHEMA_LIMITS.depth} levels`,
    `${grouped(SCHEMA_LIMITS.values)} values`,
    `${grouped(SCHEMA_LIMITS.references)} references`,
    `${SCHEMA_LIMITS.patterns} patterns`,
  ],
  'Schemas that one value is held against': [grouped(SCHEMA_LIMITS.branching)],
  'One check of a value': [grouped(MOST_CHECKING)],
  "A recognizer's pattern": [`${grouped(controls.LONGEST_PATTERN)} characters`, `${grouped(LARGEST_PROGRAM)} instructions`],
  'A word list': [
    sizeText(controls.LONGEST_WORD_LIST),
    `${grouped(MOST_WORDS)} words`,
    `${controls.LONGEST_WORD} characters a word or phrase`,
  ],
  'The word lists that a policy names': [sizeText(controls.MOST_WORDS_OF_POLICY)],
  'All word lists of Live or of Test': [sizeText(controls.MOST_WORDS_OF_SPACE)],
  'A JSON body of an AI call': [`${AI_SHAPE.levels} levels`, grouped(AI_SHAPE.values)],
  'A message of an upstream': [`${MCP_SHAPE.levels} levels`, grouped(MCP_SHAPE.values)],
};

test('the page of limits says what the code enforces', () => {
  const { markdown } = docsPage('limits') ?? assert.fail('no limits page');
  for (const [what, says] of Object.entries(ROWS)) {
    const row = markdown.split('\n').find((line) => line.startsWith(`| ${what} |`));
    for (const text of says) assert.ok(row?.split(' | ')[1]?.includes(text), `${what}: ${text}, but ${row}`);
  }
});

test('the pages where a limit is met lead to it, and the list for maintainers is none of them', () => {
  for (const slug of ['errors', 'routes', 'workflows', 'ai-controls', 'mcp', 'ai-data-plane', 'openapi'])
    assert.ok(docsPage(slug)?.markdown.includes('(/docs/limits'), slug);
  assert.ok(!docsPage('limits')?.markdown.includes('.ts`'), 'a page for customers');
});

test('the form of a recognizer and the page of AI controls name both limits of a pattern', () => {
  const form = readFileSync('components/ai-controls/recognizer-sheet.tsx', 'utf8');
  for (const text of [docsPage('ai-controls')?.markdown ?? '', form])
    for (const most of [controls.LONGEST_PATTERN, LARGEST_PROGRAM, MOST_WORDS]) assert.ok(text.includes(grouped(most)), grouped(most));
});
