import { BrickWallShield, UserLock } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const aiControls: PageFamily = {
  name: 'ai-controls',
  pages: [
    {
      id: 'ai-pii',
      label: 'PII',
      icon: UserLock,
      scope: 'space',
      path: '/ai/pii',
      group: 'ai',
      order: 53,
      needs: 'ai_gateway:read',
      docs: 'ai-controls',
    },
    {
      id: 'ai-firewall',
      label: 'Firewall',
      icon: BrickWallShield,
      scope: 'space',
      path: '/ai/firewall',
      group: 'ai',
      order: 56,
      needs: 'ai_gateway:read',
      docs: 'ai-controls',
    },
  ],
  resources: [
    { type: 'pii_policy', noun: 'PII policy', icon: UserLock, path: (id) => `/ai/pii?policy=${id}` },
    { type: 'pii_recognizer', noun: 'PII recognizer', icon: UserLock, path: (id) => `/ai/pii?tab=recognizers&recognizer=${id}` },
    { type: 'firewall_policy', noun: 'firewall policy', icon: BrickWallShield, path: (id) => `/ai/firewall?policy=${id}` },
  ],
};
