import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = { create: (run) => ({ name: `PARTNER_KEY_${run}`, value: 'a value' }) };
