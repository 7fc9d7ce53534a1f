import { Workflow } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const aiTrust: PageFamily = {
  name: 'ai-trust',
  pages: [
    {
      id: 'ai-ci-trust',
      label: 'CI trust',
      icon: Workflow,
      scope: 'space',
      path: '/ai/ci-trust',
      group: 'ai',
      order: 120,
      needs: 'ai_gateway:read',
      docs: 'ai-gateway',
    },
  ],
  resources: [{ type: 'ai_oidc_binding', noun: 'OIDC binding' }],
};
