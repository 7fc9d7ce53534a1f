import type { Words } from '#server/kernel/words.ts';

export const about =
  'Stages such as production and staging. A call names one by `X-Svc-Environment`; a route serves those it is configured for.';

export const words: Words = {
  id: "The environment's id.",
  name: 'Its name in calls and references: small letters, digits, - and _.',
  display_name: 'Its name as people read it.',
  description: 'What it is for, in your words.',
  color: 'Its colour in the dashboard, such as #6366f1.',
  is_default: 'Whether calls that name no environment go to this one. There is exactly one.',
};
