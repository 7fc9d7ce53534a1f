'use client';

import { useScope } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import type { Capability } from '#server/domain/roles/catalogue.shared.ts';
import { forbiddenTo } from './forbidden-reason.ts';

/** Replaces the content of a page that the person's role can't open: the roles that can, and a link to what each role allows. */
export function ForbiddenNote({ capability, what }: { capability: Capability; what: string }) {
  const { role, slug } = useScope();
  return (
    <Callout
      title={`Your role can’t open ${what}`}
      actions={
        <>
          <LinkButton size="sm" href={`/${slug}/settings/notifications?tab=requests`}>
            Ask for access
          </LinkButton>
          <LinkButton size="sm" href={`/${slug}/settings/roles`}>
            View roles
          </LinkButton>
        </>
      }
    >
      {forbiddenTo(role, capability)}
    </Callout>
  );
}
