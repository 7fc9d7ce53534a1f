import { fresh, idOf, type Sample } from '#server/testing/factories.ts';

/** A private view is not audited. */
const sharedView: Sample = async () => ({ page: 'routes', name: fresh('View'), query: 'enabled=true', shared: true });
const viewId = idOf('views.create', sharedView);

export const samples: Record<string, Sample> = {
  'views.list': async () => ({ page: 'routes' }),
  'views.create': sharedView,
  'views.update': async (ctx) => ({ ...(await viewId(ctx)), name: fresh('Other view') }),
  'views.delete': viewId,
};

export const peopleOnly = ['views.list', 'views.create', 'views.update', 'views.delete'];

/** Its own query replaces the saved one on purpose. */
export const unguardedEdits = ['views.update'];

export const harmless = {
  // What a page shows.
  'views.update': ['name', 'query', 'columns', 'shared', 'is_default'],
};
