'use client';

import { useMutation } from '@tanstack/react-query';
import { Download, Play } from 'lucide-react';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Time } from '#components/ui/time.tsx';
import type { ConnectionRow } from './connection-form.tsx';

type Props = { connection: ConnectionRow; onEdit: () => void; onDelete: () => void };

/** One connection: whether it works, what the provider's administrator needs, and the test. */
export function ConnectionCard({ connection, onEdit, onDelete }: Props) {
  const trpc = useTRPC();
  const forbidden = useForbidden('sso:manage');
  const { kind, name, active, issuer, service, certificates, tested_at } = connection;
  // The test is a trip to the provider and back to this page.
  const test = useMutation(trpc.sso.test.mutationOptions({ onSuccess: ({ url }) => window.location.assign(url) }));
  return (
    <SectionCard
      title={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="[overflow-wrap:anywhere]">{name}</span>
          <Badge>{kind === 'oidc' ? 'OpenID Connect' : 'SAML 2.0'}</Badge>
          <Status state={active ? (tested_at ? 'ok' : 'pending') : 'off'} className="font-normal text-sm">
            {active ? (tested_at ? 'Active' : 'Not tested yet') : 'Off'}
          </Status>
        </span>
      }
      actions={
        <>
          <Button icon={<Play />} loading={test.isPending} disabledReason={forbidden} onClick={() => test.mutate({ id: connection.id })}>
            Test sign-in
          </Button>
          <Button disabledReason={forbidden} onClick={onEdit}>
            Edit
          </Button>
          <Button variant="ghost" disabledReason={forbidden} onClick={onDelete}>
            Delete
          </Button>
        </>
      }
    >
      {test.error && <Callout tone="bad" title={refusalOf(test.error).message} className="mb-3" />}
      <KeyValueList
        items={[
          { label: kind === 'oidc' ? 'Issuer' : 'Provider entity ID', value: issuer },
          ...(kind === 'oidc'
            ? [
                {
                  label: 'Redirect URI',
                  value: service.redirect_uri,
                  copy: service.redirect_uri,
                  hint: 'Enter this at your provider, exactly.',
                },
              ]
            : [
                {
                  label: 'ACS URL',
                  value: service.acs_url,
                  copy: service.acs_url,
                  hint: 'Where the provider posts its responses. Also called reply or recipient URL.',
                },
                {
                  label: 'Entity ID',
                  value: service.entity_id,
                  copy: service.entity_id,
                  hint: 'Of Sallyport, for this connection. Also called audience.',
                },
                { label: 'Metadata', value: <MetadataButton id={connection.id} /> },
                ...certificates.map((one, i) => ({
                  label: certificates.length > 1 ? `Certificate ${i + 1}` : 'Certificate',
                  value: (
                    <span>
                      {one.subject}, valid until <Time value={one.valid_to} format="date" />
                    </span>
                  ),
                  hint: <span className="font-mono [overflow-wrap:anywhere]">{one.fingerprint}</span>,
                })),
              ]),
          { label: 'Last success', value: tested_at ? <Time value={tested_at} /> : 'Never' },
        ]}
      />
    </SectionCard>
  );
}

function MetadataButton({ id }: { id: string }) {
  const client = useTRPCClient();
  const save = useMutation({
    mutationFn: () => client.sso.metadata.query({ id }),
    onSuccess: ({ xml }) => {
      const url = URL.createObjectURL(new Blob([xml], { type: 'application/samlmetadata+xml' }));
      Object.assign(document.createElement('a'), { href: url, download: 'sallyport-metadata.xml' }).click();
      URL.revokeObjectURL(url);
    },
  });
  return (
    <Button size="sm" icon={<Download />} loading={save.isPending} onClick={() => save.mutate()}>
      Download XML
    </Button>
  );
}
