import { operation } from '#server/kernel/operation.ts';
import { inspect } from './inspect.ts';
import { Inspected, InspectQuery, SearchAnswer, SearchQuery } from './schema.ts';
import { search } from './service.ts';

/** Anyone signed in may search; what they may not list they do not find. */
export const query = operation({
  id: 'search.query',
  summary: 'Search resources, calls and actions',
  http: 'GET /admin/search',
  kind: 'read',
  needs: 'any',
  refuses: [],
  input: SearchQuery,
  output: SearchAnswer,
  run: search,
});

/** Anyone signed in may ask; what they may not list has the answer of what does not exist. */
const inspectId = operation({
  id: 'search.inspect',
  summary: 'Look up an ID',
  http: 'GET /admin/inspect',
  kind: 'read',
  needs: 'any',
  refuses: ['not_found'],
  input: InspectQuery,
  output: Inspected,
  run: inspect,
});

export { inspectId as inspect };
