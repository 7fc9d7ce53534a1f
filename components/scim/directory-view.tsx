'use client';

import { useQuery } from '@tanstack/react-query';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { ForbiddenNote } from '#components/roles/forbidden-note.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { LinkButton } from '#components/ui/button.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { ConnectionCard } from './connection-card.tsx';
import { Credentials } from './credentials.tsx';
import { PlanNote } from './plan-note.tsx';

const People = lazyTab(() => import('./people.tsx').then((module) => module.People));
const Calls = lazyTab(() => import('./calls.tsx').then((module) => module.Calls));
const Guides = lazyTab(() => import('./guides.tsx').then((module) => module.Guides));

const VIEWS = ['setup', 'people', 'calls', 'guides'] as const;
const LABELS = { setup: 'Setup', people: 'People', calls: 'Latest calls', guides: 'Guides' } as const;

/** Provisioning of members by a directory: where it connects, what it authenticates with, whom it added, and what it asked last. */
export function DirectoryView() {
  const trpc = useTRPC();
  const { slug } = useScope();
  const forbidden = useForbidden('scim_credential:list');
  const [view, show] = useQueryState('view', parseAsStringLiteral(VIEWS).withDefault('setup'));
  const status = useQuery({ ...trpc.scimCredentials.status.queryOptions({}), enabled: !forbidden });
  return (
    <Page className="max-w-5xl">
      <PageHeader
        title="Directory (SCIM)"
        description="Your identity provider adds members, keeps them up to date and removes them."
        actions={
          <LinkButton variant="ghost" href={`/${slug}/settings/team`}>
            Team
          </LinkButton>
        }
      >
        {!forbidden && (
          <TabLinks
            label="Views of the directory"
            tabs={VIEWS.map((one) => ({
              href: `?view=${one}`,
              label: LABELS[one],
              active: view === one,
              onSelect: () => void show(one),
            }))}
          />
        )}
      </PageHeader>
      {forbidden ? (
        <ForbiddenNote capability="scim_credential:list" what="the directory" />
      ) : status.isError ? (
        <QueryError query={status} what="The directory" />
      ) : !status.data ? (
        <Skeleton lines={8} label="Loading the directory" />
      ) : (
        <>
          <PlanNote plan={status.data.plan} />
          {view === 'people' ? (
            <People />
          ) : view === 'calls' ? (
            <Calls />
          ) : view === 'guides' ? (
            <Guides baseUrl={status.data.base_url} />
          ) : (
            <>
              <ConnectionCard baseUrl={status.data.base_url} />
              <Credentials plan={status.data.plan} />
            </>
          )}
        </>
      )}
    </Page>
  );
}
