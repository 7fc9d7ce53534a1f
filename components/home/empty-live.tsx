'use client';

import { ArrowUpFromLine, Import, Plus, Waypoints } from 'lucide-react';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { LinkButton } from '#components/ui/button.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Page, PageHeader, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Checklist } from './checklist.tsx';

/** Home of an empty Live space. */
export function EmptyLive() {
  const path = usePath();
  const { slug } = useScope();
  const stays = useForbidden('sandbox:promote') !== undefined;
  const make = (
    <LinkButton variant={stays ? 'primary' : 'secondary'} icon={<Plus />} href={path('/routes?create=true')}>
      Create live route
    </LinkButton>
  );
  return (
    <Page>
      <PageHeader
        title="Live is empty"
        description="Nothing is copied from Test automatically. Promote what works there, or start from scratch."
      />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <EmptyState
          icon={<Waypoints />}
          title="Create your first live route"
          action={
            stays ? (
              make
            ) : (
              <LinkButton variant="primary" icon={<ArrowUpFromLine />} href={`/${slug}/test/promote`}>
                Promote from Test
              </LinkButton>
            )
          }
          link={
            <>
              {!stays && make}
              <LinkButton icon={<Import />} href={path('/import')}>
                Import
              </LinkButton>
            </>
          }
        >
          Then store its live credential, create a live key, and call it. You can{' '}
          <Link href={`/${slug}/test`} className={textLink}>
            try it in Test first
          </Link>
          .
        </EmptyState>
        <Checklist />
      </div>
    </Page>
  );
}
