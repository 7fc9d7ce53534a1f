import type { Described, Examples } from '#server/kernel/reference.ts';

/** Example values by field, or by `component.field`; `request.field` also puts an optional field into example requests. */
export const examples: Examples = {
  'CollectionVariable.collection_id': '01975a3e-7c2b-7d4e-9f10-3b5a6c7d8e9f',
  name: 'Payments',
  slug: 'payments',
  description: 'Everything that moves money',
  color: '#6366f1',
  icon: 'credit-card',
  expected_environments: ['production'],
  environment_name: 'production',
  base_url: 'https://api.example.com',
  key: 'region',
  type: 'value',
  value: 'eu',
  'CollectionVariable.secret_id': null,
  secret_id: null,
  route_name: 'stripe',
  in_sync: false,
  kind: 'base_url',
  environment: 'production',
  expected: 'https://api.example.com',
  actual: 'https://old.example.com',
  default_client_ids: [],
  'request.description': 'Everything that moves money',
  'request.type': 'value',
  'request.value': 'eu',
};

export const operations: Described = {
  'collections.list': { description: 'Lists the collections of this space by name.', success: 'A page of collections.' },
  'collections.get': { description: 'Returns a collection with the number of its members.', success: 'The collection.' },
  'collections.create': {
    description: 'Creates a collection for routes, secrets and clients that belong together.',
    success: 'The created collection.',
  },
  'collections.update': {
    description: 'Changes a collection. Members you leave out keep their values.',
    success: 'The updated collection.',
  },
  'collections.delete': {
    description: 'Deletes a collection with its variables. Its routes, secrets and clients stay.',
    success: 'The collection was deleted.',
  },
  'collections.variables.list': { description: 'Lists the variables of a collection.', success: 'The variables of the collection.' },
  'collections.variables.create': {
    description:
      'Creates a variable that routes of the collection can use. A variable of type `value` takes `value`; one of type `secret` takes `secret_id`.',
    success: 'The created variable.',
  },
  'collections.variables.update': {
    description: 'Changes a variable. Routes that use it see the change on the next call.',
    success: 'The updated variable.',
  },
  'collections.variables.delete': { description: 'Deletes a variable.', success: 'The variable was deleted.' },
  'collections.environment_defaults.get': {
    description: 'Returns the environments that routes of the collection are expected to have, and their defaults.',
    success: 'The environment defaults.',
  },
  'collections.environment_defaults.put': {
    description: "Replaces the environment defaults of a collection. Routes aren't changed: compare them with the sync status.",
    success: 'The updated environment defaults.',
  },
  'collections.sync_status': {
    description: 'Compares each route of the collection with the environment defaults.',
    success: 'The sync status of the routes.',
  },
  'collections.routes.reset': {
    description: 'Changes a route of the collection to match the environment defaults.',
    success: 'The sync status of the route.',
  },
};
