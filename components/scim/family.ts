import { FolderSync } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const scim: PageFamily = {
  name: 'scim',
  pages: [
    {
      id: 'directory',
      label: 'Directory (SCIM)',
      icon: FolderSync,
      scope: 'workspace',
      path: '/settings/directory',
      group: 'settings',
      order: 27,
      needs: 'scim_credential:list',
      docs: 'scim',
    },
  ],
  resources: [
    { type: 'scim_credential', noun: 'SCIM credential' },
    { type: 'scim_user', noun: 'directory user' },
  ],
};
