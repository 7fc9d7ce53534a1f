'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Globe, Plus } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { TenantDomain } from '#server/domain/domains/schema.ts';
import { DOMAIN_STATES } from './domain-text.ts';

type Domain = z.output<typeof TenantDomain>;
const loadCreateDomain = () => import('#server/domain/domains/schema.ts').then((module) => module.CreateDomain);

/** Domains of the workspace: the record to publish, whether it was found, and the check on demand. */
export function DomainsView() {
  const trpc = useTRPC();
  const { slug } = useScope();
  const query = useQuery(trpc.domains.list.queryOptions({}));
  const [removing, setRemoving] = useState<Domain>();
  const rows = query.data?.data;
  return (
    <Page className="max-w-4xl">
      <PageHeader
        title="Domains"
        description="Verify the domains of your organization, so that people with those addresses can join by single sign-on or be added by your directory."
        actions={
          <LinkButton variant="ghost" href={`/${slug}/settings/sso`}>
            Single sign-on
          </LinkButton>
        }
      />
      <AddDomain />
      {query.isError ? (
        <QueryError query={query} what="Domains" />
      ) : !rows ? (
        <Skeleton lines={6} label="Loading domains" />
      ) : rows.length === 0 ? (
        <EmptyState icon={<Globe />} title="No domains yet">
          Add a domain, publish one DNS record, and verify it. Only the exact name counts: example.com doesn’t cover sub.example.com.
        </EmptyState>
      ) : (
        rows.map((row) => <DomainCard key={row.id} domain={row} onRemove={() => setRemoving(row)} />)
      )}
      <RemoveDomain domain={removing} onClose={() => setRemoving(undefined)} />
    </Page>
  );
}

function AddDomain() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const forbidden = useForbidden('domain:manage');
  const form = useZodForm({ schema: loadCreateDomain, defaultValues: { domain: '' } });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  const create = useMutation(
    trpc.domains.create.mutationOptions({
      onSuccess: async ({ domain }) => {
        form.reset({ domain: '' });
        notifyDone(`${domain} added`);
        await cache.invalidateQueries(trpc.domains.pathFilter());
      },
      onError: refuse,
    }),
  );
  return (
    <SectionCard title="Add a domain">
      <Form
        form={form}
        refusal={refusal}
        onSubmit={async (value) => {
          clear();
          await create.mutateAsync(value).then(undefined, () => undefined);
        }}
      >
        {panel}
        <div className="flex flex-wrap items-start gap-3">
          <div className="min-w-52 flex-1">
            <Field label="Domain" hideLabel error={fieldError(form, 'domain')}>
              <Input mono placeholder="example.com" autoComplete="off" spellCheck={false} {...form.register('domain')} />
            </Field>
          </div>
          <Button type="submit" variant="primary" icon={<Plus />} loading={create.isPending} disabledReason={forbidden}>
            Add domain
          </Button>
        </div>
      </Form>
    </SectionCard>
  );
}

type Seen = { resolver: string; reached: boolean; values: string[] };

function DomainCard({ domain, onRemove }: { domain: Domain; onRemove: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const forbidden = useForbidden('domain:manage');
  const verify = useMutation(
    trpc.domains.verify.mutationOptions({
      onSuccess: async () => {
        notifyDone(`${domain.domain} is verified`);
        await cache.invalidateQueries(trpc.domains.pathFilter());
        await cache.invalidateQueries(trpc.sso.pathFilter());
      },
    }),
  );
  const { label, state, says } = DOMAIN_STATES[domain.status];
  return (
    <SectionCard
      title={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1 font-mono">
          <span className="[overflow-wrap:anywhere]">{domain.domain}</span>
          <Status state={state} className="font-normal font-sans text-sm">
            {label}
          </Status>
          {domain.sso_required && <Badge tone="accent">Single sign-on required</Badge>}
        </span>
      }
      description={says}
      actions={
        <>
          {domain.status !== 'expired' && (
            <Button loading={verify.isPending} disabledReason={forbidden} onClick={() => verify.mutate({ id: domain.id })}>
              {domain.status === 'verified' ? 'Check now' : 'Verify now'}
            </Button>
          )}
          <Button variant="ghost" disabledReason={forbidden} onClick={onRemove}>
            Remove
          </Button>
        </>
      }
    >
      <KeyValueList
        items={[
          { label: 'TXT name', value: domain.txt_name, copy: domain.txt_name },
          { label: 'TXT value', value: domain.txt_value, copy: domain.txt_value },
          ...(domain.expires_at ? [{ label: 'Verify before', value: <Time value={domain.expires_at} /> }] : []),
          ...(domain.verified_at ? [{ label: 'Verified', value: <Time value={domain.verified_at} /> }] : []),
          ...(domain.checked_at ? [{ label: 'Last checked', value: <Time value={domain.checked_at} /> }] : []),
        ]}
      />
      {verify.error && <NotFound error={verify.error} />}
    </SectionCard>
  );
}

/** What the resolvers have instead: a typing error is found by reading it. */
function NotFound({ error }: { error: unknown }) {
  const seen = (error as { data?: { seen?: Seen[] } | null }).data?.seen ?? [];
  return (
    <Callout tone="bad" title={refusalOf(error).message} className="mt-3">
      {seen.length > 0 && (
        <ul className="flex flex-col gap-1">
          {seen.map(({ resolver, reached, values }) => (
            <li key={resolver} className="[overflow-wrap:anywhere]">
              <span className="text-ink-3">{resolver}:</span>{' '}
              {values.length > 0 ? (
                <code className="font-mono text-xs">{values.join(' · ')}</code>
              ) : reached ? (
                'no TXT record'
              ) : (
                'no answer'
              )}
            </li>
          ))}
        </ul>
      )}
    </Callout>
  );
}

function RemoveDomain({ domain, onClose }: { domain: Domain | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const remove = useMutation(
    trpc.domains.delete.mutationOptions({
      onSuccess: async () => {
        notifyDone(`${domain?.domain ?? 'Domain'} removed`);
        onClose();
        await cache.invalidateQueries(trpc.domains.pathFilter());
        await cache.invalidateQueries(trpc.sso.pathFilter());
      },
    }),
  );
  return (
    <ConfirmDanger
      open={domain !== undefined}
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      space="live"
      title={`Remove ${domain?.domain ?? ''}?`}
      resourceName={domain?.domain ?? ''}
      confirmLabel="Remove domain"
      consequences={[
        'New people with this domain can no longer join by single sign-on or be added by your directory.',
        'Existing members keep their access.',
        ...(domain?.sso_required ? ['Its members can sign in with a password again: single sign-on is no longer required of them.'] : []),
      ]}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => domain && remove.mutate({ id: domain.id })}
    />
  );
}
