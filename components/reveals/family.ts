import { Eye } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const reveals: PageFamily = {
  name: 'reveals',
  pages: [
    {
      id: 'reveals',
      label: 'Reveal log',
      icon: Eye,
      scope: 'workspace',
      path: '/settings/reveals',
      group: 'settings',
      order: 60,
      needs: 'audit_log:read_details',
      docs: 'reveals',
    },
  ],
};
