'use client';

import type { inferRouterOutputs } from '@trpc/server';
import { useEffect, useRef } from 'react';
import { usePath } from '#components/trpc/provider.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { RouteSnippets } from './route-snippets.tsx';

export type Made = { route: inferRouterOutputs<AppRouter>['routes']['create']; warnings: readonly string[] };

/** A new route: the server's warnings, and how to call it. */
export function CreatedRoute({ made: { route, warnings }, onAgain }: { made: Made; onAgain: () => void }) {
  const path = usePath();
  const next = useRef<HTMLAnchorElement>(null);
  // The button that made it is gone: the keyboard goes on at what comes next.
  useEffect(() => next.current?.focus(), []);
  return (
    <>
      {warnings.map((warning) => (
        <Callout key={warning} tone="warn" title={warning} />
      ))}
      <p className="text-ink-2">
        <span className="font-medium text-ink">{route.name}</span> is ready in {route.base_environment}. Call it with an API key:
      </p>
      <RouteSnippets reference={route.slug ?? route.id} />
      <div className="flex flex-wrap gap-2">
        {/* In place of the open form, which Back must not show again. */}
        <LinkButton replace ref={next} variant="primary" href={path(`/routes/${route.id}`)}>
          Open route
        </LinkButton>
        <Button onClick={onAgain}>Create another</Button>
      </div>
    </>
  );
}
