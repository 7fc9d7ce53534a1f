import { nothing, type Sample } from '#server/testing/factories.ts';

export const samples: Record<string, Sample> = { 'deployment.parity': nothing };
