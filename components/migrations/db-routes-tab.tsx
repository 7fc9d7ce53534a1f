'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { DB_PROTOCOLS } from '#server/domain/migrations/register.shared.ts';
import { CommittedSecret } from './committed-secret.tsx';
import type { Detail } from './labels.ts';

type Protocol = (typeof DB_PROTOCOLS)[number];
const PORTS: Readonly<Record<Protocol, { upstream: string; local: string; scheme: string }>> = {
  postgres: { upstream: '5432', local: '5433', scheme: 'postgresql' },
  mysql: { upstream: '3306', local: '3307', scheme: 'mysql' },
  mongodb: { upstream: '27017', local: '27018', scheme: 'mongodb' },
  redis: { upstream: '6379', local: '6380', scheme: 'redis' },
};

/** The local ports on which an on-host agent authenticates database connections, each with the address that applications use. */
export function DbRoutesTab({ migration }: { migration: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('migration:create');
  const notInPlan = useFeatureReason('byo_agent');
  const [adding, setAdding] = useState(false);
  const query = useQuery(trpc.migrations.listDbRoutes.queryOptions({ id: migration.id }));
  const refresh = () => queryClient.invalidateQueries(trpc.migrations.pathFilter());
  const remove = useMutation(
    trpc.migrations.deleteDbRoute.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => {
        notifyDone('Route deleted');
        return refresh();
      },
    }),
  );
  if (query.isError) return <QueryError query={query} what="Database proxy routes" />;
  if (!query.data) return <Skeleton lines={4} label="Loading routes" />;
  const none = migration.committed_count === 0 ? 'Commit an item first' : undefined;
  return (
    <SectionCard
      title="Database proxy routes"
      description="An on-host agent listens on 127.0.0.1 and authenticates with the committed secret. Applications connect without a password."
      actions={
        <Button icon={<Plus />} disabledReason={forbidden ?? notInPlan ?? none} onClick={() => setAdding(true)}>
          New route
        </Button>
      }
    >
      {query.data.routes.length === 0 ? (
        <EmptyState title="No database proxy routes">
          Commit the credentials of a database, then point its applications at a local port.
        </EmptyState>
      ) : (
        <ul className="flex flex-col divide-y divide-line">
          {query.data.routes.map((route) => (
            <li key={route.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
              <span className="min-w-0 [overflow-wrap:anywhere]">
                <CopyText
                  value={`${PORTS[route.protocol].scheme}://127.0.0.1:${route.local_port}/${route.upstream_database ?? ''}`}
                  label="connection string"
                />
                <span className="block text-ink-3 text-xs">
                  to {route.upstream_host}:{route.upstream_port}, TLS {route.tls_mode}
                </span>
              </span>
              <Button
                size="sm"
                variant="danger-quiet"
                icon={<Trash2 />}
                className="ml-auto"
                disabledReason={forbidden}
                onClick={() => remove.mutate({ id: migration.id, routeId: route.id })}
              >
                Delete
              </Button>
            </li>
          ))}
        </ul>
      )}
      {adding && <NewRoute migration={migration} onClose={() => setAdding(false)} onDone={() => void refresh()} />}
    </SectionCard>
  );
}

function NewRoute({ migration, onClose, onDone }: { migration: Detail; onClose: () => void; onDone: () => void }) {
  const trpc = useTRPC();
  const [protocol, setProtocol] = useState<Protocol>('postgres');
  const [host, setHost] = useState('');
  const [upstreamPort, setUpstreamPort] = useState(PORTS.postgres.upstream);
  const [localPort, setLocalPort] = useState(PORTS.postgres.local);
  const [database, setDatabase] = useState('');
  const [secret, setSecret] = useState('');
  const create = useMutation(
    trpc.migrations.createDbRoute.mutationOptions({
      onSuccess: () => {
        notifyDone('Route created');
        onDone();
        onClose();
      },
    }),
  );
  const choose = (next: Protocol) => {
    setProtocol(next);
    setUpstreamPort(PORTS[next].upstream);
    setLocalPort(PORTS[next].local);
  };
  const missing = host.trim() === '' || secret === '' ? 'Fill in host and secret' : undefined;
  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onClose()}
      title="New database proxy route"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            loading={create.isPending}
            disabledReason={missing}
            onClick={() =>
              create.mutate({
                ...{ id: migration.id, protocol, upstream_host: host.trim(), upstream_port: Number(upstreamPort) },
                ...{ local_port: Number(localPort), committed_secret_id: secret },
                ...(database.trim() ? { upstream_database: database.trim() } : {}),
              })
            }
          >
            Create route
          </Button>
        </>
      }
    >
      {create.error && <MutationError error={create.error} />}
      <Field label="Protocol">
        <Select value={protocol} onValueChange={choose} options={DB_PROTOCOLS.map((one) => ({ value: one, label: one }))} />
      </Field>
      <Field label="Database host" required>
        <Input mono placeholder="db.internal" value={host} onChange={(event) => setHost(event.target.value)} />
      </Field>
      <Field label="Database port" required>
        <Input inputMode="numeric" className="sm:w-40" value={upstreamPort} onChange={(event) => setUpstreamPort(event.target.value)} />
      </Field>
      <Field label="Local port" required hint="On 127.0.0.1, 1024 to 65535.">
        <Input inputMode="numeric" className="sm:w-40" value={localPort} onChange={(event) => setLocalPort(event.target.value)} />
      </Field>
      <Field label="Database" optional>
        <Input mono value={database} onChange={(event) => setDatabase(event.target.value)} />
      </Field>
      <CommittedSecret migration={migration} value={secret} onValueChange={setSecret} />
    </Dialog>
  );
}
