import { operation } from '#server/kernel/operation.ts';
import { inspect } from './inspect.ts';
import { Inspected, InspectQuery, SearchAnswer, SearchQuery } from './schema.ts';
import { search } from './service.ts';

/** Anyone signed in may search; what they may not list they do not find. */
export const query = operation({
  id: 'search.query',
  summary: 'Find resources, calls and actions in both spaces',
  http: 'GET /admin/search',
  needs: 'any',
  refuses: [],
  input: SearchQuery,
  output: SearchAnswer,
  run: (ctx, input) => search(ctx, input),
});

/** Anyone signed in may ask; what they may not list has the answer of what does not exist. */
export const inspectId = operation({
  id: 'search.inspect',
  summary: 'Tell what an id is, and where it is shown',
  http: 'GET /admin/inspect',
  needs: 'any',
  refuses: ['not_found'],
  input: InspectQuery,
  output: Inspected,
  run: (ctx, input) => inspect(ctx, input),
});
