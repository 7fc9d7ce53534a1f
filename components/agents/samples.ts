import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = {
  create: { name: 'page-test' },
  views: ['?tab=install', '?tab=routes', '?tab=commands', '?tab=security', '?tab=logs'],
};
