import { nothing, type Sample } from '#server/testing/factories.ts';

export const samples: Record<string, Sample> = {
  'reveals.list': nothing,
  'reveals.people': nothing,
  'reveals.export': nothing,
};
