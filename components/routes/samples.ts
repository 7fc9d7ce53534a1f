import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = { details: ['/routes/echo'], differsInLive: true };
