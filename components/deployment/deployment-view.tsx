'use client';

import { useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { type State, Status } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { DataTable } from '#components/ui/data-table.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { Page, PageHeader, SectionCard, Split } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import type { AppRouter } from '#server/trpc/root.ts';

type Audit = inferRouterOutputs<AppRouter>['deployment']['parity'];
type Feature = Audit['features'][number];

const STATUS: Record<Feature['status'], { state: State; words: string }> = {
  full: { state: 'ok', words: 'Full' },
  customer_provided: { state: 'live', words: 'Provided by the operator' },
  reduced: { state: 'warning', words: 'Reduced' },
  cloud_only: { state: 'blocked', words: 'Cloud only' },
};
const COUNTERS: Record<Audit['mode']['counters'], string> = { redis: 'Redis', postgresql: 'PostgreSQL', memory: 'Gateway memory' };

const of = columnsFor<Feature>();
const columns = [
  of.accessor('name', {
    header: 'Feature',
    meta: { width: '28%' },
    cell: ({ row: { original } }) => (
      <>
        {original.name}
        {/* A phone has no room for the column of notes. */}
        <span className="block whitespace-normal text-ink-2 text-xs md:hidden">{original.note}</span>
      </>
    ),
  }),
  of.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={STATUS[getValue()].state}>{STATUS[getValue()].words}</Status>,
  }),
  of.accessor('note', {
    header: 'Note',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <span className="text-ink-2">{getValue()}</span>,
  }),
];

/** How this installation runs, and what of the product it has. */
export function DeploymentView() {
  const trpc = useTRPC();
  const { slug } = useScope();
  const query = useQuery(trpc.deployment.parity.queryOptions({}));
  const audit = query.data;
  return (
    <Page>
      <PageHeader title="Deployment" description="How this installation runs, and which features it has." />
      {query.isError ? (
        <QueryError query={query} what="The deployment" />
      ) : !audit ? (
        <Skeleton lines={10} label="Loading the deployment" />
      ) : (
        <Split
          side={
            <>
              <SectionCard title="Mode">
                <KeyValueList
                  items={[
                    { label: 'Environment', value: capitalize(audit.mode.environment) },
                    { label: 'Database', value: audit.mode.database === 'embedded' ? 'Embedded PostgreSQL' : 'Your own PostgreSQL' },
                    { label: 'Gateways', value: String(audit.mode.gateways) },
                    { label: 'Rate limit counters', value: COUNTERS[audit.mode.counters] },
                    { label: 'Payments', value: audit.mode.billing === 'stripe' ? 'Stripe' : 'Set by the operator' },
                  ]}
                />
              </SectionCard>
              <SectionCard
                title="Versions"
                footer={
                  <LinkButton size="sm" variant="ghost" href={`/${slug}/settings/versions`}>
                    API versions in use
                  </LinkButton>
                }
              >
                <KeyValueList
                  items={[
                    { label: 'API', value: audit.versions.api },
                    { label: 'Database schema', value: audit.versions.schema },
                    { label: 'PostgreSQL', value: audit.versions.postgresql },
                    { label: 'Node.js', value: audit.versions.node },
                  ]}
                />
              </SectionCard>
              <SectionCard title="Egress addresses" description="Upstreams see calls come from these.">
                {audit.egress_ips.length === 0 ? (
                  <p className="text-ink-2">The operator hasn’t named any (EGRESS_IPS).</p>
                ) : (
                  <KeyValueList items={audit.egress_ips.map((ip) => ({ label: 'Address', value: ip, copy: ip }))} />
                )}
              </SectionCard>
            </>
          }
        >
          <SectionCard title="Features" flush>
            <DataTable
              className="rounded-t-none border-0"
              caption="Features of this deployment"
              columns={columns}
              rows={audit.features}
              rowId={(row) => row.key}
              rowName={(row) => row.name}
            />
          </SectionCard>
        </Split>
      )}
    </Page>
  );
}
