import type { Words } from '#server/kernel/words.ts';

export const about = 'Values that calls need and callers must not know. They go in, and into calls; this API never gives one out.';

export const words: Words = {
  id: "The secret's id.",
  name: "The secret's name.",
  shortcode_name: 'Its name in templates: `{{secret:NAME}}`. `{{secret_id:ID}}` goes on working when the secret is renamed.',
  value: 'The value. It is encrypted before it is stored and never shown by this API.',
  environment: 'The environment the value is for; the base environment when left out.',
  base_environment:
    'The environment the value was first set for, and which is meant where none is named; null before the first value. No value stands in for another.',
  secret_type: 'What kind of secret it is. Older names of `string` are understood.',
  'query.secret_type': 'Only secrets of this kind.',
  description: 'What it is for, in your words.',
  expires_at: 'When the value ends; null for never.',
  strict_expiry_enforcement: 'Whether calls are refused once the value has ended, instead of warned about.',
  tags: 'Words to find it by.',
  tag: 'Only secrets with this tag.',
  allowed_hosts: 'Upstream hosts it may be sent to; null for all.',
  rotate_every_days: 'Days after which a new value is due; null for never.',
  rotation_due_at: 'When a new value is due; null for never.',
  environment_count: 'How many environments have a value.',
  environment_names: 'The environments that have a value.',
  environments: 'What is known of the value in each environment.',
  environment_name: "The environment's name.",
  value_version: 'How often the value was set, from 1.',
  expires_at_override: 'When this value ends, if not with the secret.',
  reference_count: 'How many routes and variables use it.',
  escrow: 'Whether it was given by another party and can never be shown to this one.',
  shared: 'With whom it is shared; null for nobody.',
  q: 'Part of the name.',
  expiring_within_days: 'Only secrets whose value ends within so many days.',
  'If-Match': 'The `value_version` the new value is to replace, as an entity tag; another one stored meanwhile is then not lost.',
};
