import { Gauge, History, Settings2, ShieldCheck } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const settings: PageFamily = {
  name: 'settings',
  pages: [
    {
      id: 'workspace',
      label: 'Workspace',
      icon: Settings2,
      scope: 'workspace',
      path: '/settings/workspace',
      group: 'settings',
      order: 10,
      needs: 'account:read',
      docs: 'account',
    },
    {
      id: 'usage',
      label: 'Usage',
      icon: Gauge,
      scope: 'workspace',
      path: '/settings/usage',
      group: 'settings',
      order: 30,
      needs: 'account:read',
      docs: 'account',
    },
    {
      id: 'versions',
      label: 'API versions',
      icon: History,
      scope: 'workspace',
      path: '/settings/versions',
      group: 'settings',
      order: 40,
      needs: 'api_key:list',
      docs: 'openapi',
    },
    {
      id: 'keys',
      label: 'Tenant KMS',
      icon: ShieldCheck,
      scope: 'workspace',
      path: '/settings/keys',
      group: 'settings',
      order: 50,
      needs: 'kms:read',
      docs: 'tenant-kms',
    },
  ],
  resources: [
    { type: 'workspace', noun: 'workspace' },
    { type: 'tenant', noun: 'workspace' },
    { type: 'tenant_master_key', noun: 'workspace key' },
    { type: 'tenant_kms_config', noun: 'KMS of the workspace' },
  ],
};
