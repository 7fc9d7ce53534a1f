import { nothing, type Sample } from '#server/testing/factories.ts';

export const samples: Record<string, Sample> = {
  'tenant_keys.list': nothing,
  'tenant_keys.rotate': nothing,
};
