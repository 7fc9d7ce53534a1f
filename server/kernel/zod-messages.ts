import { z } from 'zod';
import { grouped } from './numbers.ts';

/**
 * What zod says where a schema has no words of its own, as the rest of a sentence that starts with the field: `name: is required`. Importing
 * this sets it for the whole process. Never quotes the value.
 */
export function zodMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && issue.code !== 'custom')
    return `is required${issue.code === 'invalid_value' ? ` and must be ${oneOf(issue)}` : ''}`;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? 'of a different type'}`;
    case 'invalid_value':
      return `must be ${oneOf(issue)}`;
    case 'too_small':
      return size(issue.origin, Number(issue.minimum), 'at least', issue.inclusive !== false);
    case 'too_big':
      return size(issue.origin, Number(issue.maximum), 'at most', issue.inclusive !== false);
    case 'invalid_format':
      return `must be ${formats[issue.format] ?? 'in the format described in the API reference'}`;
    case 'invalid_union':
      return union(issue.errors.flat());
    case 'unrecognized_keys':
      return `unknown field ${issue.keys[0]}`;
    default:
      return undefined;
  }
}
z.config({ customError: zodMessage });

const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const formats: Record<string, string> = {
  datetime: 'an ISO 8601 date and time such as 2026-01-31T09:30:00Z',
  date: 'a date such as 2026-01-31',
  email: 'an email address',
  url: 'an absolute URL',
  uuid: 'a UUID',
  guid: 'a UUID',
  base64: 'base64',
};

function oneOf({ values }: { values: readonly unknown[] }): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`;
}

function size(origin: string, bound: number, words: 'at least' | 'at most', inclusive: boolean): string {
  const unit = { string: 'character', array: 'entry', set: 'entry', map: 'entry', object: 'field', record: 'field' }[origin];
  if (unit === undefined)
    return inclusive ? `must be ${words} ${grouped(bound)}` : `must be ${words === 'at least' ? 'greater' : 'less'} than ${grouped(bound)}`;
  if (words === 'at least' && bound === 1) return 'must not be empty';
  const many = unit === 'entry' ? 'entries' : `${unit}s`;
  return `must have ${words} ${grouped(bound)} ${bound === 1 ? unit : many}`;
}

/** Alternatives that mean one thing over two transports (a flag, a number in a query) are named as that thing. */
function union(branches: readonly z.core.$ZodIssue[]): string {
  const expected = branches.map((branch) => (branch.code === 'invalid_type' ? branch.expected : branch.code));
  if (expected.includes('boolean')) return 'must be true or false';
  if (expected.includes('number') && expected.includes('invalid_format')) return 'must be a whole number';
  const known = expected.flatMap((kind) => kinds[kind] ?? []);
  return known.length === expected.length ? `must be ${[...new Set(known)].join(' or ')}` : "doesn't match any of the accepted formats";
}
