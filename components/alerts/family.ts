import { Siren } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const alerts: PageFamily = {
  name: 'alerts',
  pages: [
    {
      id: 'alerts',
      label: 'Alerts',
      icon: Siren,
      scope: 'space',
      path: '/alerts',
      group: 'observe',
      order: 15,
      needs: 'alert:read',
      docs: 'alerts',
    },
  ],
  resources: [
    { type: 'alert', noun: 'alert', plural: 'alerts', icon: Siren, path: (id) => `/alerts?open=${id}` },
    { type: 'alert_channel', noun: 'alert channel', path: (id) => `/alerts/channels?open=${id}` },
  ],
};
