'use client';

import { useQuery } from '@tanstack/react-query';
import { DOMAIN_STATES } from '#components/domains/domain-text.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Status } from '#components/ui/badge.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';

/** Where a directory connects, and whom it may add. */
export function ConnectionCard({ baseUrl }: { baseUrl: string }) {
  return (
    <SectionCard title="Connection" description="Enter these at your identity provider.">
      <KeyValueList
        items={[
          { label: 'Base URL', value: <code className="font-mono text-xs [overflow-wrap:anywhere]">{baseUrl}</code>, copy: baseUrl },
          { label: 'Authentication', value: 'Bearer token: a credential from below' },
          { label: 'Unique identifier', value: <code className="font-mono text-xs">userName</code> },
          { label: 'Domains', value: <Domains /> },
        ]}
      />
    </SectionCard>
  );
}

/** New people need an address in one of these. */
function Domains() {
  const trpc = useTRPC();
  const { slug } = useScope();
  const query = useQuery(trpc.domains.list.queryOptions({}));
  const rows = query.data?.data;
  if (query.isError) return <QueryError query={query} what="Domains" />;
  if (!rows) return <Skeleton lines={1} label="Loading domains" />;
  const link = (text: string) => (
    <Link href={`/${slug}/settings/domains`} className={textLink}>
      {text}
    </Link>
  );
  if (rows.length === 0)
    return (
      <span>
        <Status state="warning">None verified</Status>
        <span className="mt-0.5 block text-ink-3 text-xs">
          Only people who are members already can be provisioned. {link('Verify a domain')} to add new ones.
        </span>
      </span>
    );
  return (
    <span>
      <span className="flex flex-wrap gap-x-4 gap-y-1">
        {rows.map(({ id, domain, status }) => (
          <Status key={id} state={DOMAIN_STATES[status].state}>
            <span className="font-mono text-xs">{domain}</span>
            <span className="sr-only">: {DOMAIN_STATES[status].label}</span>
            {status !== 'verified' && <span aria-hidden> {DOMAIN_STATES[status].label.toLowerCase()}</span>}
          </Status>
        ))}
      </span>
      <span className="mt-0.5 block text-ink-3 text-xs">New people need an address in a verified domain. {link('Manage domains')}</span>
    </span>
  );
}
