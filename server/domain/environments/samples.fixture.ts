import { fresh, idOf, nothing, type Sample } from '#server/testing/factories.ts';

export const environment: Sample = async () => ({ name: fresh('env') });

export const samples: Record<string, Sample> = {
  'environments.list': nothing,
  'environments.get': idOf('environments.create', environment),
  'environments.create': environment,
  'environments.update': async (ctx) => ({ ...(await idOf('environments.create', environment)(ctx)), display_name: 'Renamed' }),
  'environments.delete': idOf('environments.create', environment),
  'environments.duplicate': async (ctx) => ({ ...(await idOf('environments.create', environment)(ctx)), ...(await environment(ctx)) }),
  'environments.usage': nothing,
  'environments.impact': idOf('environments.create', environment),
};

export const dependsOnState = [/make another environment the default|last environment/i];

export const harmless = {
  // How it is called.
  'environments.update': ['name', 'display_name', 'description', 'color', 'is_default'],
};

export const grantless = {
  'environments.duplicate': 'values of secrets stay behind the same capabilities',
};
