import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { flag, isoTime, queryInt } from './fields.ts';

const said = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues[0]?.message;

test('a refused field says what would do, in words and without its value', () => {
  const cases: [z.ZodType, unknown, string][] = [
    [z.string(), undefined, 'is required'],
    [z.string(), 'marker'.length, 'must be a string'],
    [z.boolean(), 'yes', 'must be true or false'],
    [z.enum(['user', 'server']), 'robot', 'must be one of user, server'],
    [z.enum(['user', 'server']), undefined, 'is required and must be one of user, server'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().max(3), 'marker', 'must have at most 3 characters'],
    [z.array(z.string()).min(2), ['a'], 'must have at least 2 entries'],
    [z.number().min(1), 0, 'must be at least 1'],
    [z.number().int(), 1.5, 'must be a whole number'],
    [z.number().positive(), 0, 'must be greater than 0'],
    [isoTime(), 'tomorrow', 'must be an ISO 8601 date and time such as 2026-01-31T09:30:00Z'],
    [flag(), 'maybe', 'must be true or false'],
    [queryInt(1, 9), 'abc', 'must be a whole number'],
    [z.array(z.string()), {}, 'must be an array'],
    [z.uuid(), 'marker', 'must be a UUID'],
  ];
  for (const [schema, value, sentence] of cases) assert.equal(said(schema, value), sentence);
});

test('a schema that has its own words keeps them', () => {
  assert.equal(said(z.string().min(8, 'is too short for a password'), 'x'), 'is too short for a password');
});
