import { fresh, idOf, nothing, type Sample } from '#server/testing/factories.ts';

const apiKey: Sample = async () => ({ name: fresh('key') });

export const samples: Record<string, Sample> = {
  'api_keys.list': nothing,
  'api_keys.get': idOf('api_keys.create', apiKey),
  'api_keys.uses': idOf('api_keys.create', apiKey),
  'api_keys.versions': nothing,
  'api_keys.create': apiKey,
  'api_keys.update': async (ctx) => ({ ...(await idOf('api_keys.create', apiKey)(ctx)), name: fresh('renamed') }),
  'api_keys.rotate': idOf('api_keys.create', apiKey),
  'api_keys.revoke': idOf('api_keys.create', apiKey),
};

export const confirmedSamples: Record<string, Sample> = {
  'api_keys.create': async (ctx) => ({ ...(await apiKey(ctx)), key_type: 'access_key' }),
};

/** Access keys are of Live. */
export const onlyInLive = ['api_keys.create'];
export const dependsOnState = [/must be between 1 hour and 5 years/, /only access keys/i];
export const shownOnce = { 'api_keys.create': ['api_key'], 'api_keys.rotate': ['api_key'] };
