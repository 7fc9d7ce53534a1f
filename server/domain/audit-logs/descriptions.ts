import type { Descriptions } from '#server/kernel/descriptions.ts';

export const descriptions: Descriptions = {
  about: 'Who changed what, and when. The most important entries are hash-chained, so that removing one can be detected.',
  operations: {
    'audit_logs.list': { description: 'Lists audit log entries, newest first.', success: 'A page of audit log entries.' },
    'audit_logs.events': {
      description:
        'Returns audit log entries oldest first, for exporting them to another system. Keep `next_cursor` and send it with the next request. An entry can be delivered more than once: remove duplicates by `id`.',
      success: 'The next audit log entries.',
    },
  },
  fields: {
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
  },
  examples: {
    action: 'update',
    resource_type: 'route',
    details: { sandbox: false },
    ip_address: '203.0.113.7',
    resource_id: '01975a3e-7c2b-7d4e-9f10-3b5a6c7d8e9f',
  },
};
