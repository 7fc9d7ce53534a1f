import { Blocks, LockKeyhole, MonitorSmartphone, SlidersHorizontal, UserRound } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const me: PageFamily = {
  name: 'me',
  pages: [
    {
      id: 'profile',
      label: 'Profile',
      icon: UserRound,
      scope: 'person',
      path: '/me/profile',
      group: 'person',
      order: 10,
    },
    {
      id: 'security',
      label: 'Security',
      icon: LockKeyhole,
      scope: 'person',
      path: '/me/security',
      group: 'person',
      order: 20,
      docs: 'sign-in',
    },
    {
      id: 'sessions',
      label: 'Sessions',
      icon: MonitorSmartphone,
      scope: 'person',
      path: '/me/sessions',
      group: 'person',
      order: 30,
    },
    {
      id: 'apps',
      label: 'Connected apps',
      icon: Blocks,
      scope: 'person',
      path: '/me/apps',
      group: 'person',
      order: 35,
      docs: 'connected-apps',
    },
    {
      id: 'preferences',
      label: 'Preferences',
      icon: SlidersHorizontal,
      scope: 'person',
      path: '/me/preferences',
      group: 'person',
      order: 40,
    },
  ],
};
