import type { Words } from '#server/kernel/words.ts';

export const about = 'Who changed what, and when. The most important entries are hash-chained, so that removing one can be detected.';

export const words: Words = {
  id: 'ID of the entry. IDs increase, with possible gaps.',
  action: 'Action, such as `create` or `rotate`.',
  action_prefix: 'Only return entries whose action starts with this text.',
  resource_type: 'Type of the affected resource, such as `route`.',
  resource_id: 'ID of the affected resource.',
  'query.action': 'Only return entries with this action.',
  'query.resource_type': 'Only return entries for this type of resource.',
  'query.resource_id': 'Only return entries for the resource with this ID.',
  actor_id: 'Only return entries by the person or key with this ID.',
  from: 'Only return entries at or after this time.',
  to: 'Only return entries before this time.',
  chain: 'Only return entries of the critical chain, or only general ones.',
  details: 'What changed. Never contains a secret value.',
  details_redacted: 'Whether some details are hidden from this credential.',
  ip_address: 'IP address the change came from. `null` for the service itself.',
  created_at: 'When the action happened.',
  limit: 'Maximum number of rows per response.',
};
