'use client';

import { useScope } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import type { Capability } from '#server/domain/roles/catalogue.shared.ts';
import { forbiddenTo } from './forbidden-to.ts';

/** Stands where a page's content would stand for whom it is not: which role would be needed, and what each role may do. */
export function ForbiddenNote({ capability, what }: { capability: Capability; what: string }) {
  const { role, slug } = useScope();
  return (
    <Callout
      title={`${what} is not shown to your role`}
      actions={
        <LinkButton size="sm" href={`/${slug}/settings/roles`}>
          What roles may do
        </LinkButton>
      }
    >
      {forbiddenTo(role, capability)}
    </Callout>
  );
}
