import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = {
  create: { name: 'page-test', url: 'https://example.com/hooks', event_types: ['audit.event'], enabled: false },
  views: ['?tab=deliveries', '?tab=signature', '?tab=test', '?tab=settings'],
};
