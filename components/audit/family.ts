import { Signpost } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const audit: PageFamily = {
  name: 'audit',
  pages: [
    {
      id: 'audit',
      label: 'Audit',
      icon: Signpost,
      scope: 'space',
      path: '/audit',
      group: 'observe',
      order: 20,
      keys: 'g a',
      needs: 'audit_log:list',
      docs: 'audit-logs',
      savedViews: { name: 'audit', share: 'audit_log:read_details' },
      landing: 60,
    },
  ],
  resources: [
    { type: 'audit_entry', noun: 'audit entry' },
    { type: 'audit_chain', noun: 'critical chain' },
  ],
};
