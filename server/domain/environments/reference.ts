import type { Described, Examples } from '#server/kernel/reference.ts';

/** Example values by field, or by `component.field`; `request.field` also puts an optional field into example requests. */
export const examples: Examples = {
  name: 'staging',
  display_name: 'Staging',
  description: 'For tests before a release',
  color: '#6366f1',
  is_default: false,
  'request.display_name': 'Staging',
  'request.color': '#6366f1',
};

export const operations: Described = {
  'environments.list': { description: 'Lists the environments of this space.', success: 'The environments.' },
  'environments.get': { description: 'Returns one environment.', success: 'The environment.' },
  'environments.create': { description: 'Creates an environment, such as staging or production.', success: 'The created environment.' },
  'environments.update': {
    description: 'Changes an environment. Making one the default takes that from the previous default.',
    success: 'The updated environment.',
  },
  'environments.delete': {
    description: "Deletes an environment. Refused while it's the default or in use.",
    success: 'The environment was deleted.',
  },
};
