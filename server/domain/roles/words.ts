import type { Words } from '#server/kernel/words.ts';

export const about = 'Roles that keys and people can have.';

export const words: Words = {
  id: 'ID of the role, for the `role_ids` of a key.',
  name: 'Name of the role.',
  description: 'What the role allows.',
  applies_to: 'Who can have the role.',
  is_default: 'Whether new keys get this role if no role is given.',
  seeded: 'Whether the role is built in.',
  subject_kind: 'Only return roles for keys, or only roles for people.',
};
