import type { Words } from '#server/kernel/words.ts';

export const about = 'What keys and people may do, by name.';

export const words: Words = {
  id: "The role's id, for `role_ids` of a key.",
  name: "The role's name.",
  description: 'What it allows.',
  applies_to: 'Who can have it.',
  is_default: 'Whether a new key gets it when no role is named.',
  seeded: 'Whether it comes with the service.',
  subject_kind: 'Only the roles that keys, or people, can have.',
};
