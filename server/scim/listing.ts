import { badRequest } from './problem.ts';
import type { ListQuery } from './resource.ts';
import type { ScimObject } from './schema/read.ts';

/** What ServiceProviderConfig advertises. */
export const MOST_RESULTS = 200;
const DEFAULT_COUNT = 100;
const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** Filter and page of a list, clamped as RFC 7644 §3.4.2.4 wants it. @throws ScimProblem invalidFilter, invalidValue */
export function listQueryOf(query: URLSearchParams): ListQuery {
  const [filter = null, ...more] = [...query].filter(([name]) => name.toLowerCase() === 'filter').map(([, text]) => text);
  // In another spelling, or given twice, it is a filter still: to leave one out would list more than was asked for.
  if (more.length > 0) throw badRequest('invalidFilter', 'There is more than one filter.');
  if (filter !== null && (!filter.isWellFormed() || filter.includes('\0')))
    throw badRequest('invalidFilter', 'The filter must not contain NUL or invalid Unicode.');
  return {
    filter,
    startIndex: Math.max(1, integer(query, 'startIndex') ?? 1),
    count: Math.min(MOST_RESULTS, Math.max(0, integer(query, 'count') ?? DEFAULT_COUNT)),
  };
}

function integer(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null) return null;
  if (!/^[+-]?\d{1,9}$/.test(text)) throw badRequest('invalidValue', `${name} must be a whole number.`);
  return Number(text);
}

export const listResponse = (total: number, startIndex: number, resources: readonly ScimObject[]) => ({
  schemas: [LIST_SCHEMA],
  totalResults: total,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
});
