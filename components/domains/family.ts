import { Globe } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const domains: PageFamily = {
  name: 'domains',
  pages: [
    {
      id: 'domains',
      label: 'Domains',
      icon: Globe,
      scope: 'workspace',
      path: '/settings/domains',
      group: 'settings',
      order: 24,
      needs: 'domain:list',
      docs: 'single-sign-on',
    },
  ],
  resources: [{ type: 'tenant_domain', noun: 'domain' }],
};
