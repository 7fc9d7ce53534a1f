import { routeId } from '#server/domain/routes/samples.fixture.ts';
import type { Sample } from '#server/testing/factories.ts';

export const samples: Record<string, Sample> = {
  'search.query': async () => ({ q: 'anything' }),
  'search.inspect': async (ctx) => ({ id: String((await routeId(ctx)).id) }),
};
