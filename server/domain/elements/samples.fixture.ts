import { fresh, nothing, type Sample } from '#server/testing/factories.ts';

export const samples: Record<string, Sample> = {
  'elements.get': nothing,
  'elements.set_origins': async () => ({ origins: [`https://${fresh('shop').toLowerCase()}.example.com`] }),
};
