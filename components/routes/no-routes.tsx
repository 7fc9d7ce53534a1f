import { Import, LayoutTemplate, Waypoints } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { EmptyState } from '#components/ui/states.tsx';

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
            Start from a known API
          </LinkButton>
          <LinkButton href={path('/import')} icon={<Import />}>
            Import from curl or OpenAPI
          </LinkButton>
        </>
      }
    >
      A route is an address of your own for an upstream API. Callers use it with a key of this workspace; the upstream’s credential stays
      here.
    </EmptyState>
  );
}
