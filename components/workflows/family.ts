import { ListVideo, Workflow } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const workflows: PageFamily = {
  name: 'workflows',
  pages: [
    {
      id: 'workflows',
      label: 'Workflows',
      icon: Workflow,
      scope: 'space',
      path: '/workflows',
      group: 'automation',
      order: 10,
      needs: 'workflow:list',
      docs: 'workflows',
    },
    {
      id: 'runs',
      label: 'Runs',
      icon: ListVideo,
      scope: 'space',
      path: '/runs',
      group: 'automation',
      order: 20,
      needs: 'workflow:read',
      below: 'workflow:read_execution_data',
      docs: 'workflows',
    },
  ],
  resources: [
    { type: 'workflow', noun: 'workflow', plural: 'workflows', icon: Workflow, path: (id) => `/workflows/${id}` },
    { type: 'workflow_execution', noun: 'run', plural: 'runs', icon: ListVideo, path: (id) => `/runs/${id}` },
  ],
};
