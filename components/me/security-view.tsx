'use client';

import { MonitorSmartphone } from 'lucide-react';
import { QueryError } from '#components/trpc/query-error.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { PasswordCard } from './password-card.tsx';
import { useMe } from './use-me.ts';

/** How one signs in, and where one is signed in. */
export function SecurityView() {
  const query = useMe();
  return (
    <Page className="max-w-3xl">
      <PageHeader title="Security" description="How you sign in." />
      {query.isError ? (
        <QueryError query={query} what="Your account" />
      ) : !query.data ? (
        <Skeleton lines={6} label="Loading your account" />
      ) : (
        <PasswordCard hasPassword={query.data.user.has_password} email={query.data.user.email} />
      )}
      <SectionCard
        title="Sessions"
        className="pb-3.5"
        description="Devices where you’re signed in. If you don’t recognize one, sign it out and change your password."
        actions={
          <LinkButton size="sm" href="/me/sessions" icon={<MonitorSmartphone />}>
            View sessions
          </LinkButton>
        }
      />
    </Page>
  );
}
