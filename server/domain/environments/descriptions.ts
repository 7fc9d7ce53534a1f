import type { Descriptions } from '#server/kernel/descriptions.ts';

export const descriptions: Descriptions = {
  about:
    'Stages such as production and staging. A call selects an environment with `X-Svc-Environment`. Each route serves the environments it is configured for.',
  operations: {
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
  },
  fields: {
    id: 'ID of the environment.',
    name: 'Name used in calls and references: lowercase letters, digits, `-` and `_`.',
    display_name: 'Display name.',
    description: 'Your description of the environment.',
    color: 'Color shown in the dashboard, such as `#6366f1`.',
    is_default: "Whether calls that don't select an environment use this one. Exactly one environment is the default.",
  },
  examples: {
    name: 'staging',
    display_name: 'Staging',
    description: 'For tests before a release',
    color: '#6366f1',
    is_default: false,
    'request.display_name': 'Staging',
    'request.color': '#6366f1',
  },
};
