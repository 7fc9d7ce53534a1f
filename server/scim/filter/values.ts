import type { Attribute } from '../schema/attribute.ts';
import type { Comparison } from './filter.ts';
import { invalidFilter, type Token } from './tokens.ts';

/** The value of a comparison in the type of its attribute. @throws ScimProblem invalidFilter when the two, or the operator and the type, don't fit */
export function typedValue({ name, type }: Attribute, op: Comparison, token: Token): string | boolean | Date {
  if (type === 'boolean') {
    if (op !== 'eq' && op !== 'ne') throw invalidFilter(`${name} is a boolean: compare it with eq or ne.`);
    const literal = token.kind === 'word' ? token.text.toLowerCase() : '';
    if (literal !== 'true' && literal !== 'false') throw invalidFilter(`${name} is a boolean: compare it with true or false.`);
    return literal === 'true';
  }
  if (token.kind !== 'text') throw invalidFilter(`Write the value of ${name} in double quotes (position ${token.at + 1}).`);
  if (type !== 'dateTime') return token.text;
  if (op === 'co' || op === 'sw' || op === 'ew') throw invalidFilter(`${name} is a date: compare it with eq, ne, gt, ge, lt or le.`);
  const instant = instantOf(token.text);
  if (!instant) throw invalidFilter(`${name} is a date such as "2026-01-31T09:30:00Z" (position ${token.at + 1}).`);
  return instant;
}

const DATE_TIME = /^(\d{4}-\d{2}-(\d{2}))T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/;

/** An xsd:dateTime; without an offset it is UTC. Undefined for dates that no calendar has. */
function instantOf(text: string): Date | undefined {
  const match = DATE_TIME.exec(text);
  if (!match) return undefined;
  const [, day = '', dayOfMonth, offset] = match;
  // Date.parse takes the 30th of February for the 2nd of March.
  if (new Date(`${day}T00:00:00Z`).getUTCDate() !== Number(dayOfMonth)) return undefined;
  const instant = new Date(offset === undefined ? `${text}Z` : text);
  // Beyond these years JavaScript writes dates that the database doesn't read.
  const year = instant.getUTCFullYear();
  return year >= 1 && year <= 9999 ? instant : undefined;
}
