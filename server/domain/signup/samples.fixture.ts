import type { Sample } from '#server/testing/made.ts';

/** Sign-up is called without a credential, so no derived suite calls it. */
export const samples: Record<string, Sample> = {};

export const secretInput = { 'signup.claim': ['claim_handle'] };
export const shownOnce = { 'signup.claim': ['starter.api_key.api_key'], 'signup.start': ['claim_handle'] };
