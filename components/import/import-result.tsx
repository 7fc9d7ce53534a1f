'use client';

import type { inferRouterOutputs } from '@trpc/server';
import { Check, KeyRound } from 'lucide-react';
import { useState } from 'react';
import { RouteSnippets } from '#components/routes/route-snippets.tsx';
import { usePath } from '#components/trpc/provider.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted } from '#components/ui/numbers.ts';
import type { ImportedOperation, ProposedRoute } from '#server/domain/import/schema.ts';
import type { AppRouter } from '#server/trpc/root.ts';
import { OperationList } from './operation-list.tsx';

export type ImportedThings = inferRouterOutputs<AppRouter>['import']['create'] & {
  /** What was proposed for each route, by the name it was created under. */
  proposed: Readonly<Record<string, ProposedRoute>>;
};

/** The imported routes and secrets, and the pasted call rewritten to the gateway. */
export function ImportResult({ made, onAgain }: { made: ImportedThings; onAgain: () => void }) {
  const path = usePath();
  const [first] = made.routes;
  return (
    <SectionCard
      className="max-w-3xl"
      title={
        <span className="flex items-center gap-2">
          <Check aria-hidden className="size-4 text-good-ink" />
          {counted(made.routes.length, 'route')} created
        </span>
      }
      footer={
        <>
          <Button onClick={onAgain}>Import more</Button>
          <LinkButton variant="primary" href={first && made.routes.length === 1 ? path(`/routes/${first.id}`) : path('/routes')}>
            {made.routes.length === 1 ? 'Open route' : 'View routes'}
          </LinkButton>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {(made.warnings ?? []).map((warning) => (
          <Callout key={warning} tone="warn" title={warning} />
        ))}
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
            Secrets created:
            {made.secrets.map((secret) => (
              <Badge key={secret.id} tone="accent" icon={<KeyRound />} mono>
                {secret.name}
              </Badge>
            ))}
          </p>
        )}
        {first && <Calls reference={first.slug ?? first.id} proposed={made.proposed[first.name]} />}
      </div>
    </SectionCard>
  );
}

/** The call through the gateway; a description brings many to choose from. */
function Calls({ reference, proposed }: { reference: string; proposed: ProposedRoute | undefined }) {
  const sample = proposed?.sample_call;
  const operations = proposed?.operations ?? [];
  const [chosen, setChosen] = useState<ImportedOperation | undefined>(() => operations.find((one) => sameCall(one, sample)));
  return (
    <div className="flex flex-col gap-4">
      {operations.length > 1 && <OperationList operations={operations} chosen={chosen} onChoose={setChosen} />}
      <RouteSnippets reference={reference} call={chosen ?? sample} />
    </div>
  );
}

const sameCall = (one: ImportedOperation, other: { method: string; path: string } | undefined) =>
  one.method === other?.method && one.path === other.path;
