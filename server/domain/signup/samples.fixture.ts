import type { Sample } from '#server/testing/factories.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import type { PersonSample } from '#server/testing/test-person.ts';

/** Sign-up is called without a credential, so no derived suite calls it. */
export const samples: Record<string, Sample> = {};

export const secretInput = { 'signup.claim': ['claim_handle'] };
export const shownOnce = { 'signup.claim': ['starter.api_key.api_key'], 'signup.start': ['claim_handle'] };

export const personSamples: Record<string, PersonSample> = {
  'auth.magic.verify': async ({ b, email }) => {
    await b.post('/auth/magic/start', { email });
    return { email, code: /\b(\d{6})\b/.exec((await mailsTo(email)).at(-1)?.text ?? '')?.[1] };
  },
};

export const testedElsewhere = {
  'auth.signup': 'depends on whether anybody signed up before: sign-up.test.ts',
  'auth.magic.use': 'a link of a sign-up: sign-up.test.ts',
  'auth.complete-onboarding': 'a workspace that was not named yet: sign-in.test.ts',
  'auth.starter-key': 'a workspace that was just made: sign-up.test.ts',
};
