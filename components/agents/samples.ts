import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = {
  create: (run) => ({ name: `page-test-${run}` }),
  views: ['?tab=install', '?tab=routes', '?tab=commands', '?tab=security', '?tab=logs'],
};
