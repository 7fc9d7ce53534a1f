import { nothing, type Sample } from '#server/testing/made.ts';

export const samples: Record<string, Sample> = {
  'explorer.history': nothing,
};
