import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = {
  create: { name: 'page-test', key_type: 'ed25519' },
  paths: { api: '/crypto/keys', page: '/crypto' },
  views: ['?tab=versions', '?tab=try', '?tab=usage', '?tab=policies'],
};
