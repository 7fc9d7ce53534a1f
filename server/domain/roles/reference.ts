import type { Described, Examples } from '#server/kernel/reference.ts';

/** Example values by field, or by `component.field`; `request.field` also puts an optional field into example requests. */
export const examples: Examples = {
  name: 'Key - Editor',
  description: 'Manages routes, secrets, clients and environments',
  applies_to: ['api_key'],
  is_default: true,
  seeded: true,
};

export const operations: Described = {
  'roles.list': { description: 'Lists the built-in roles that API keys and members can have.', success: 'A page of roles.' },
};
