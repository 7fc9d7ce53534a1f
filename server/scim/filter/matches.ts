import { fold } from '#server/kernel/fold.ts';
import type { Comparison, Filter } from './filter.ts';

type Value = { readonly [name: string]: unknown };

/** Whether an element in memory passes the value filter of a PATCH path. Lists in the database are filtered by `toSql`. `folded` may remember what it did. */
export function matches(filter: Filter, element: Value, folded: (text: string) => string = fold): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.parts.every((part) => matches(part, element, folded));
    case 'or':
      return filter.parts.some((part) => matches(part, element, folded));
    case 'not':
      return !matches(filter.part, element, folded);
    case 'within':
      throw new Error('An element has no lists.');
    case 'present': {
      const found = element[filter.path];
      return found !== undefined && found !== null && found !== '';
    }
    case 'compare': {
      const { path, attribute, op, value } = filter;
      const found = element[path];
      if (typeof value === 'boolean') return (found === value) === (op === 'eq');
      if (value instanceof Date || typeof found !== 'string') return op === 'ne';
      return attribute.caseExact ? compared(found, op, value) : compared(folded(found), op, folded(value));
    }
  }
}

function compared(found: string, op: Comparison, value: string): boolean {
  switch (op) {
    case 'eq':
      return found === value;
    case 'ne':
      return found !== value;
    case 'co':
      return found.includes(value);
    case 'sw':
      return found.startsWith(value);
    case 'ew':
      return found.endsWith(value);
    default: {
      const order = Buffer.compare(Buffer.from(found), Buffer.from(value)); // by code points, as the database does
      return op === 'gt' ? order > 0 : op === 'ge' ? order >= 0 : op === 'lt' ? order < 0 : order <= 0;
    }
  }
}
