import { Forward } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const logStreams: PageFamily = {
  name: 'log-streams',
  pages: [
    {
      id: 'log-streams',
      label: 'Log streams',
      icon: Forward,
      scope: 'space',
      path: '/log-streams',
      group: 'observe',
      order: 30,
      needs: 'log_stream:manage',
      docs: 'log-streams',
    },
  ],
  resources: [{ type: 'log_stream', noun: 'log stream', icon: Forward, path: (id) => `/log-streams?stream=${id}` }],
};
