import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = { create: { name: 'Partner', ip_address: '192.0.2.7' }, views: ['?tab=analytics'] };
