import type { Words } from '#server/kernel/words.ts';

export const about = 'Keys that machines call this API and your routes with. A key is shown once, when it is made.';

export const words: Words = {
  id: "The key's id in this API; not part of the key.",
  key_id: 'The public part of the key, which is safe to write down: it stands in logs.',
  api_key: 'The whole key. It is shown this once and kept nowhere.',
  key_prefix: 'How the key begins, to recognise it by.',
  key_type:
    '`standard` in Live, `test` in Test (the host decides which), or `access_key`, which carries scopes and an expiry of its own (Enterprise, Live).',
  name: 'What the key is for, in your words.',
  active: 'Whether the key works.',
  'query.active': 'Only keys that work, or that do not any more.',
  'query.key_type': 'Only keys of this kind.',
  last_used_at: 'When the key was last used, to the minute; null when it never was.',
  last_used_ip: 'The address it was last used from.',
  rate_limit_requests: 'Calls the key may make in each window; null for the default of the plan.',
  rate_limit_window_sec: 'How long that window is, in seconds.',
  role_ids: 'The roles that say what the key may do. No key can be given more than its maker may do.',
  scopes: 'What an access key may do, instead of roles; null for other keys.',
  expires_at: 'When an access key stops working; null for never.',
  ip_allowlist: 'Addresses and networks (CIDR) the key works from; empty for everywhere.',
  revoke_at: 'When the key stops working because another replaced it; null when nothing is planned.',
  replaces_key_id: 'The key that this one was made to replace; null for none.',
  revoked_at: 'When the key was revoked; null while it is not.',
  revoked_by: 'Who revoked it: the id of a person or a key.',
  revoked: 'Always true.',
  created_by: 'Who made the key.',
  'created_by.kind': 'What kind of actor that was.',
  'created_by.id': 'Its id; null for the operator.',
  'created_by.label': 'Its name when the key was made.',
  oauth_client_id: 'The OAuth client that stands for the same key.',
  message: 'What to do with the key now.',
  revoke_old_after_sec: 'Seconds until the old key stops working, 0 for now; null leaves it until it is revoked.',
};
