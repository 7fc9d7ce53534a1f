import type { ReactNode } from 'react';
import { DashboardData } from '#components/trpc/provider.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export type DecisionDataProps = { decider: { id: string; csrf: string }; slug: string; space: Space; children: ReactNode };

/** What the step-up dialog needs around it, on a page that stands outside of the frame. */
export const DecisionData = ({ decider, slug, space, children }: DecisionDataProps) => (
  <DashboardData
    scope={{
      slug,
      space,
      csrf: decider.csrf,
      person: decider.id,
      role: '',
      reveal_secrets: false,
      email_verified: null,
      secret_fields: {},
      api_url: '',
      proxy_url: '',
    }}
  >
    {children}
  </DashboardData>
);
