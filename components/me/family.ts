import { LockKeyhole, MonitorSmartphone, SlidersHorizontal, UserRound } from 'lucide-react';
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
      keywords: ['name', 'email', 'e-mail'],
    },
    {
      id: 'security',
      label: 'Security',
      icon: LockKeyhole,
      scope: 'person',
      path: '/me/security',
      group: 'person',
      order: 20,
      keywords: ['password', 'passkey', 'authenticator', '2fa', 'recovery codes', 'sessions', 'devices', 'sign out'],
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
      keywords: ['devices', 'sign out'],
    },
    {
      id: 'preferences',
      label: 'Preferences',
      icon: SlidersHorizontal,
      scope: 'person',
      path: '/me/preferences',
      group: 'person',
      order: 40,
      keywords: ['theme', 'dark', 'shortcuts', 'time zone', 'utc', 'landing'],
    },
  ],
};
