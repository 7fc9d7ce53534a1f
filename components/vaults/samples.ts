import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = {
  create: { name: 'page-test', token_format: 'pan' },
  views: ['?tab=tokens', '?tab=key', '?tab=policies', '?tab=settings'],
};
