import { nothing, type Sample } from '#server/testing/factories.ts';

export const samples: Record<string, Sample> = {
  'openapi.get': nothing,
};
