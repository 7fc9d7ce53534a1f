import { MonitorCog } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const agents: PageFamily = {
  name: 'agents',
  pages: [
    {
      id: 'agents',
      label: 'On-host agents',
      icon: MonitorCog,
      scope: 'space',
      path: '/agents',
      group: 'automation',
      order: 50,
      needs: 'agent:list',
      docs: 'agents',
    },
  ],
  resources: [
    { type: 'agent', noun: 'agent', plural: 'agents', icon: MonitorCog, path: (id) => `/agents/${id}` },
    { type: 'agent_install_token', noun: 'install token' },
  ],
};
