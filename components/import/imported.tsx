'use client';

import type { inferRouterOutputs } from '@trpc/server';
import { Check, KeyRound } from 'lucide-react';
import { CallThis } from '#components/routes/call-this.tsx';
import { usePath } from '#components/trpc/provider.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted } from '#components/ui/numbers.ts';
import type { AppRouter } from '#server/trpc/root.ts';

export type ImportedThings = inferRouterOutputs<AppRouter>['import']['create'] & {
  /** A path to try, by route name. */ samples: Readonly<Record<string, string>>;
};

/** What was made, and the call that replaces the one that was pasted. */
export function Imported({ made, onAgain }: { made: ImportedThings; onAgain: () => void }) {
  const path = usePath();
  const [first] = made.routes;
  return (
    <SectionCard
      className="max-w-3xl"
      title={
        <span className="flex items-center gap-2">
          <Check aria-hidden className="size-4 text-good-ink" />
          {counted(made.routes.length, 'route is', 'routes are')} ready
        </span>
      }
      footer={
        <>
          <Button onClick={onAgain}>Import more</Button>
          <LinkButton variant="primary" href={first && made.routes.length === 1 ? path(`/routes/${first.id}`) : path('/routes')}>
            {made.routes.length === 1 ? 'Open the route' : 'All routes'}
          </LinkButton>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {made.routes.map((route) => (
            <li key={route.id}>
              <Link href={path(`/routes/${route.id}`)} className={textLink}>
                {route.name}
              </Link>
            </li>
          ))}
        </ul>
        {made.secrets.length > 0 && (
          <p className="flex flex-wrap items-center gap-1.5 text-ink-2">
            Sealed:
            {made.secrets.map((secret) => (
              <Badge key={secret.id} tone="accent" icon={<KeyRound />} mono>
                {secret.name}
              </Badge>
            ))}
          </p>
        )}
        {first && <CallThis reference={first.slug ?? first.id} path={made.samples[first.name]} />}
      </div>
    </SectionCard>
  );
}
