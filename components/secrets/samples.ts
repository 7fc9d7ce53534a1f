import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = { create: { name: 'PARTNER_KEY', value: 'a value' } };
