import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = {
  create: (run) => ({ name: `page-test-${run}`, token_format: 'pan' }),
  views: ['?tab=tokens', '?tab=key', '?tab=policies', '?tab=settings'],
};
