import type { Described, Examples } from '#server/kernel/reference.ts';

/** Example values by field, or by `component.field`; `request.field` also puts an optional field into example requests. */
export const examples: Examples = {
  action: 'update',
  resource_type: 'route',
  details: { sandbox: false },
  ip_address: '203.0.113.7',
  resource_id: '01975a3e-7c2b-7d4e-9f10-3b5a6c7d8e9f',
};

export const operations: Described = {
  'audit_logs.list': { description: 'Lists audit log entries, newest first.', success: 'A page of audit log entries.' },
  'audit_logs.events': {
    description:
      'Returns audit log entries oldest first, for exporting them to another system. Keep `next_cursor` and send it with the next request. An entry can be delivered more than once: remove duplicates by `id`.',
    success: 'The next audit log entries.',
  },
};
