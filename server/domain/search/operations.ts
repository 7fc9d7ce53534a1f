import { operation } from '#server/kernel/operation.ts';
import { SearchAnswer, SearchQuery } from './schema.ts';
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
