import type { Described, Examples } from '#server/kernel/reference.ts';

/** Example values by field, or by `component.field`; `request.field` also puts an optional field into example requests. */
export const examples: Examples = {
  name: 'STRIPE_API_KEY',
  shortcode_name: 'STRIPE_API_KEY',
  value: 'example-value-not-a-secret',
  environment: 'production',
  base_environment: 'production',
  environment_name: 'production',
  environment_names: ['production'],
  tags: ['payments'],
  allowed_hosts: ['api.stripe.com'],
  description: 'Charges customers',
  value_version: 1,
  expires_at: null,
  expires_at_override: null,
  rotation_due_at: null,
  rotate_every_days: 90,
  escrow: false,
  'request.tags': ['payments'],
  'request.allowed_hosts': ['api.stripe.com'],
  shared: null,
  strict_expiry_enforcement: false,
};

export const operations: Described = {
  'secrets.list': { description: 'Lists the secrets of this space. Values are never returned.', success: 'A page of secrets.' },
  'secrets.get': {
    description: 'Returns a secret and the environments it has a value in. Values are never returned.',
    success: 'The secret.',
  },
  'secrets.create': {
    description:
      'Creates a string secret and encrypts its value. Spaces in the name become underscores. Refer to it from a route as `{{secret:NAME}}`.',
    success: 'The created secret.',
  },
  'secrets.update': {
    description:
      'Changes the name, description, expiry, tags, collection or allowed hosts of a secret. The value is set with `PUT /secrets/{id}/value`.',
    success: 'The updated secret.',
  },
  'secrets.put_value': {
    description:
      'Sets the value of a secret in one environment. Send `If-Match` with the current `value_version` to avoid overwriting a newer value.',
    success: 'The version that was written.',
  },
  'secrets.delete': {
    description: 'Deletes a secret and all its values permanently. Refused while a route or variable refers to it.',
    success: 'The secret was deleted.',
  },
};
