import type { Descriptions } from '#server/kernel/descriptions.ts';

export const descriptions: Descriptions = {
  about: 'Values that calls need and callers must not know. Secrets are injected into calls. This API never returns their values.',
  operations: {
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
  },
  fields: {
    id: 'ID of the secret.',
    name: 'Name of the secret.',
    shortcode_name:
      'Name of the secret, used in templates: `{{secret:NAME}}`. `{{secret_id:ID}}` keeps working when the secret is renamed.',
    value: 'Value of the secret. Encrypted before it is stored, and never returned.',
    environment: 'Environment of the value. Defaults to the base environment.',
    base_environment:
      "Environment the value was first set for, and the default if none is given. `null` before the first value. Environments never fall back to each other's values.",
    secret_type: 'Type of the secret. Older names for `string` are accepted.',
    'query.secret_type': 'Only return secrets of this type.',
    description: 'Your description of the secret.',
    expires_at: 'When the value expires. `null` if never.',
    strict_expiry_enforcement: 'Whether calls are refused once the value has expired, instead of carrying a warning.',
    tags: 'Tags to find the secret by.',
    tag: 'Only return secrets with this tag.',
    allowed_hosts: 'Upstream hosts the secret can be sent to. `null` for all.',
    rotate_every_days: 'Number of days after which the value should be rotated. `null` for never.',
    rotation_due_at: 'When the value should be rotated. `null` for never.',
    environment_count: 'Number of environments that have a value.',
    environment_names: 'Environments that have a value.',
    environments: 'State of the value in each environment.',
    environment_name: 'Name of the environment.',
    value_version: 'Version of the value, starting at 1.',
    expires_at_override: 'When this value expires, if different from the secret.',
    reference_count: 'Number of routes and variables that use the secret.',
    escrow: 'Whether the secret was provided by another party, so that its value can never be shown here.',
    shared: 'Who the secret is shared with. `null` if nobody.',
    q: 'Only return secrets whose name contains this text.',
    expiring_within_days: 'Only return secrets whose value expires within this number of days.',
    'If-Match': 'The `value_version` to replace, as an entity tag. The call fails if the value has changed since.',
  },
  examples: {
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
  },
};
