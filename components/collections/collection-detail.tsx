'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Pencil, Trash2 } from 'lucide-react';
import { usePathname, useRouter } from 'next/navigation';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { useState } from 'react';
import { Activity } from '#components/audit/activity-tab.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { Crumbs } from '#components/shell/crumbs.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyTab, whenOpen } from '#components/ui/lazy.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { TabLinks } from '#components/ui/tabs.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { RoutesTab } from './routes-tab.tsx';

const AccessTab = lazyTab(() => import('./access-tab.tsx').then((module) => module.AccessTab));
const DefaultsTab = lazyTab(() => import('./defaults-tab.tsx').then((module) => module.DefaultsTab));
const ClientsTab = lazyTab(() => import('./members-tab.tsx').then((module) => module.ClientsTab));
const SecretsTab = lazyTab(() => import('./members-tab.tsx').then((module) => module.SecretsTab));
const CallsTab = lazyTab(() => import('#components/logs/resource-calls.tsx').then((module) => module.ResourceCalls));
const VariablesTab = lazyTab(() => import('./variables-tab.tsx').then((module) => module.VariablesTab));
const CollectionForm = lazyOverlay(() => import('./collection-form.tsx').then((module) => module.CollectionForm), whenOpen);

const TABS = ['routes', 'secrets', 'clients', 'variables', 'environments', 'requests', 'access', 'activity'] as const;
const LABELS = {
  routes: 'Routes',
  secrets: 'Secrets',
  clients: 'Clients',
  variables: 'Variables',
  environments: 'Environments',
  requests: 'Requests',
  access: 'Access',
  activity: 'Activity',
} as const;

/** One collection: its members, its variables and what it expects of its routes. */
export function CollectionDetail({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const pathname = usePathname();
  const readOnly = useForbidden('collection:update');
  const [tab, setTab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('routes'));
  const [, setPage] = useQueryState('page');
  const [asking, setAsking] = useState<'edit' | 'delete'>();
  const collection = useQuery(trpc.collections.get.queryOptions({ id }));
  if (collection.error && !collection.data) {
    return (
      <Page>
        <PageHeader title="Collection" back={{ href: path('/collections'), label: 'Collections' }} />
        <QueryError
          query={collection}
          what="Collection"
          actions={
            <LinkButton size="sm" href={path('/collections')}>
              View collections
            </LinkButton>
          }
        />
      </Page>
    );
  }
  if (!collection.data) {
    return (
      <Page>
        <Skeleton lines={6} label="Loading collection" />
      </Page>
    );
  }
  const { name, slug, description, expected_environments, ...rest } = collection.data;
  const counts = {
    routes: rest.route_count,
    secrets: rest.secret_count,
    clients: rest.client_count,
    variables: rest.variable_count,
    environments: expected_environments.length,
    requests: undefined,
    access: undefined,
    activity: undefined,
  };
  return (
    <Page>
      <Crumbs crumbs={[{ label: name }]} />
      <PageHeader
        back={{ href: path('/collections'), label: 'Collections' }}
        title={name}
        badges={<CopyText value={slug} label="slug" />}
        description={description}
        actions={
          <>
            <Button icon={<Pencil />} disabledReason={readOnly} onClick={() => setAsking('edit')}>
              Edit
            </Button>
            <Button variant="danger-quiet" icon={<Trash2 />} disabledReason={readOnly} onClick={() => setAsking('delete')}>
              Delete…
            </Button>
          </>
        }
      />
      <TabLinks
        label="Collection sections"
        tabs={TABS.map((one) => ({
          href: one === 'routes' ? pathname : `${pathname}?tab=${one}`,
          label: LABELS[one],
          active: one === tab,
          count: counts[one],
          onSelect: () => {
            void setPage(null);
            void setTab(one === 'routes' ? null : one, { history: 'push' });
          },
        }))}
      />
      {tab === 'routes' && <RoutesTab collectionId={collection.data.id} expects={expected_environments.length > 0} />}
      {tab === 'secrets' && <SecretsTab collectionId={collection.data.id} />}
      {tab === 'clients' && <ClientsTab collectionId={collection.data.id} />}
      {tab === 'variables' && <VariablesTab collectionId={collection.data.id} />}
      {tab === 'environments' && <DefaultsTab collectionId={collection.data.id} />}
      {tab === 'requests' && (
        <CallsTab of={{ collection_id: collection.data.id }}>
          The calls of all routes that are in this collection now, newest first; a route that joins brings its calls along.
        </CallsTab>
      )}
      {tab === 'access' && <AccessTab collectionId={collection.data.id} />}
      {tab === 'activity' && <Activity resource_id={collection.data.id} />}
      <CollectionForm open={asking === 'edit'} collection={collection.data} onClose={() => setAsking(undefined)} />
      <DeleteCollection collection={asking === 'delete' ? collection.data : undefined} onClose={() => setAsking(undefined)} />
    </Page>
  );
}

type Doomed = { id: string; name: string; route_count: number; secret_count: number; client_count: number; variable_count: number };

function DeleteCollection({ collection, onClose }: { collection: Doomed | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const remove = useMutation(
    trpc.collections.delete.mutationOptions({
      onSuccess: async () => {
        notifyDone('Collection deleted');
        router.push(path('/collections'));
        await Promise.all([
          cache.invalidateQueries(trpc.collections.list.pathFilter()),
          cache.invalidateQueries(trpc.account.pathFilter()),
        ]);
      },
    }),
  );
  return (
    <ConfirmDanger
      open={collection !== undefined}
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      space={space}
      title={`Delete collection “${collection?.name ?? ''}”?`}
      resourceName={collection?.name ?? ''}
      confirmLabel="Delete collection"
      consequences={
        collection && [
          `Its contents are kept without a collection: ${counted(collection.route_count, 'route')}, ${counted(collection.secret_count, 'secret')}, ${counted(collection.client_count, 'client')}.`,
          collection.variable_count > 0
            ? `${counted(collection.variable_count, 'variable')} will be permanently deleted. Deletion is refused while a route uses one.`
            : 'It has no variables.',
          ...(collection.secret_count > 0 ? ['Callers of other routes that fill in placeholders can name its secrets from then on.'] : []),
        ]
      }
      onConfirm={() => collection && remove.mutate({ id: collection.id })}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
    >
      {collection && <ApiEquivalent method="DELETE" path={`/collections/${collection.id}`} />}
    </ConfirmDanger>
  );
}
