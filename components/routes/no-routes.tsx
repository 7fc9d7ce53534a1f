import { Import, LayoutTemplate, Waypoints } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';

/** A space without routes: what one is, and the ways to the first. */
export function NoRoutes({ create }: { create: ReactNode }) {
  const path = usePath();
  const { space } = useScope();
  return (
    <EmptyState
      icon={<Waypoints />}
      title={space === 'live' ? 'No live routes yet' : 'No routes yet'}
      action={create}
      link={
        <>
          <LinkButton href={path('/import?kind=known')} icon={<LayoutTemplate />}>
            Choose a known API
          </LinkButton>
          <LinkButton href={path('/import')} icon={<Import />}>
            Import curl or OpenAPI
          </LinkButton>
        </>
      }
    >
      A route is a URL in front of an upstream API. Callers use an API key, and the upstream’s credential stays here.
    </EmptyState>
  );
}
