'use client';

import type { inferRouterOutputs } from '@trpc/server';
import { useEffect, useRef } from 'react';
import { usePath } from '#components/trpc/provider.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { CallThis } from './call-this.tsx';

export type Made = { route: inferRouterOutputs<AppRouter>['routes']['create']; warnings: readonly string[] };

/** What follows a new route: what the server noticed, and the call that uses it. */
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
        <span className="font-medium text-ink">{route.name}</span> serves {route.base_environment}. Call it with a key of this space:
      </p>
      <CallThis reference={route.slug ?? route.id} />
      <div className="flex flex-wrap gap-2">
        {/* In place of the open form, which Back must not show again. */}
        <LinkButton replace ref={next} variant="primary" href={path(`/routes/${route.id}`)}>
          Open the route
        </LinkButton>
        <Button onClick={onAgain}>Make another</Button>
      </div>
    </>
  );
}
