import type { PageSamples } from '#components/shell/page-family.ts';

/** The client of the key that the page tests make. */
export const samples: PageSamples = {
  ofKey: (keyId) => [`/oauth-clients/${keyId}`, `/oauth-clients/${keyId}?tab=grants`, `/oauth-clients/${keyId}?tab=bindings`],
};
