import type { Words } from '#server/kernel/words.ts';

export const about = 'Who changed what, and when. Entries that matter most are chained by hashes, so that none can be taken out unseen.';

export const words: Words = {
  id: "The entry's id. Ids grow, but not without gaps.",
  action: 'What was done, such as `create` or `rotate`.',
  action_prefix: 'How the action begins.',
  resource_type: 'What kind of thing it was done to, such as `route`.',
  resource_id: 'The id of what it was done to.',
  'query.action': 'Only entries of this action.',
  'query.resource_type': 'Only entries of this kind of thing.',
  'query.resource_id': 'Only entries of the thing with this id.',
  actor_id: 'Entries of one person or key, by id.',
  from: 'Entries of this moment and after.',
  to: 'Entries before this moment.',
  chain: 'Only entries of the critical chain, or only the general ones.',
  details: 'What changed. Never a secret value.',
  details_redacted: 'Whether something of the details is withheld from this credential.',
  ip_address: 'The address the change came from; null for the service itself.',
  created_at: 'When it was done.',
  limit: 'Rows in one answer.',
};
