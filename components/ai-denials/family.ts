import { OctagonX } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const aiDenials: PageFamily = {
  name: 'ai-denials',
  pages: [
    {
      id: 'ai-denials',
      label: 'Denials',
      icon: OctagonX,
      scope: 'space',
      path: '/ai/denials',
      group: 'ai',
      order: 110,
      needs: 'audit_log:list',
      docs: 'ai-gateway',
    },
  ],
};
