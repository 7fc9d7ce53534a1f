import type { Descriptions } from '#server/kernel/descriptions.ts';

export const descriptions: Descriptions = {
  about: 'Roles that keys and people can have.',
  operations: {
    'roles.list': { description: 'Lists the built-in roles that API keys and members can have.', success: 'A page of roles.' },
  },
  fields: {
    id: 'ID of the role, for the `role_ids` of a key.',
    name: 'Name of the role.',
    description: 'What the role allows.',
    applies_to: 'Who can have the role.',
    is_default: 'Whether new keys get this role if no role is given.',
    seeded: 'Whether the role is built in.',
    subject_kind: 'Only return roles for keys, or only roles for people.',
  },
  examples: {
    name: 'Key - Editor',
    description: 'Manages routes, secrets, clients and environments',
    applies_to: ['api_key'],
    is_default: true,
    seeded: true,
  },
};
