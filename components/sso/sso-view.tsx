'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { ConnectionCard } from './connection-card.tsx';
import type { ConnectionRow } from './connection-form.tsx';
import { JoiningCard } from './joining-card.tsx';
import { TestResult } from './test-result.tsx';

const ConnectionForm = lazyOverlay(() => import('./connection-form.tsx').then((module) => module.ConnectionForm), whenOpen);

/** Identity providers of the workspace, set up step by step: domain, connection, test, requirement. `test` is a sign-in that came back. */
export function SsoView({ test }: { test: string | undefined }) {
  const trpc = useTRPC();
  const { slug } = useScope();
  const forbidden = useForbidden('sso:manage');
  const [editing, setEditing] = useState<ConnectionRow | 'new'>();
  const [deleting, setDeleting] = useState<ConnectionRow>();
  const query = useQuery(trpc.sso.list.queryOptions({}));
  const rows = query.data?.data;
  const add = (
    <Button variant="primary" icon={<Plus />} disabledReason={forbidden} onClick={() => setEditing('new')}>
      Add connection
    </Button>
  );
  return (
    <Page className="max-w-4xl">
      <PageHeader
        title="Single sign-on"
        description="Members sign in with your identity provider. Verify a domain, connect the provider, test it, then require it if you like."
        actions={
          <>
            <LinkButton variant="ghost" href={`/${slug}/settings/domains`}>
              Domains
            </LinkButton>
            {rows && rows.length > 0 && add}
          </>
        }
      />
      {test && <TestResult id={test} />}
      {query.isError ? (
        <QueryError query={query} what="Single sign-on" />
      ) : !rows ? (
        <Skeleton lines={8} label="Loading connections" />
      ) : (
        <>
          {rows.length === 0 ? (
            <EmptyState icon={<KeyRound />} title="No identity provider yet" action={add}>
              Connect Okta, Microsoft Entra ID, Google Workspace or any other provider that speaks OpenID Connect or SAML 2.0.
            </EmptyState>
          ) : (
            rows.map((row) => (
              <ConnectionCard key={row.id} connection={row} onEdit={() => setEditing(row)} onDelete={() => setDeleting(row)} />
            ))
          )}
          <JoiningCard />
        </>
      )}
      <ConnectionForm
        open={editing !== undefined}
        connection={editing === 'new' ? undefined : editing}
        onClose={() => setEditing(undefined)}
      />
      <DeleteConnection connection={deleting} onClose={() => setDeleting(undefined)} />
    </Page>
  );
}

function DeleteConnection({ connection, onClose }: { connection: ConnectionRow | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const remove = useMutation(
    trpc.sso.delete.mutationOptions({
      onSuccess: async () => {
        notifyDone('Connection deleted');
        onClose();
        await cache.invalidateQueries(trpc.sso.pathFilter());
      },
    }),
  );
  return (
    <ConfirmDanger
      open={connection !== undefined}
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      space="live"
      title={`Delete ${connection?.name ?? ''}?`}
      resourceName={connection?.name ?? ''}
      confirmLabel="Delete connection"
      consequences={[
        'Nobody can sign in with it anymore. People keep their accounts and memberships.',
        'If you connect the provider again, people are recognized by their verified email address.',
      ]}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => connection && remove.mutate({ id: connection.id })}
    />
  );
}
