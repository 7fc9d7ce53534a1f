'use client';

import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useDownload } from '#components/trpc/download.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split, textLink } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Stat } from '#components/ui/stat.tsx';
import { Time } from '#components/ui/time.tsx';
import { Intermediates } from './intermediates.tsx';
import { Life } from './life.tsx';
import { duration, type Root, type Summary, spelledSerial } from './pki-labels.ts';
import { derOfPem, saveFile } from './save-file.ts';

const TrustSteps = lazyTab(() => import('./trust-steps.tsx').then((module) => module.TrustSteps));

/** What relying parties need of a root, and how it stands. */
export function RootOverviewTab({ root }: { root: Root }) {
  const trpc = useTRPC();
  const { busy, save } = useDownload();
  const overview = useQuery(trpc.pki.overview.queryOptions({ name: root.id }));
  const summaries = useQuery(trpc.pki.summaries.queryOptions({}));
  const summary = summaries.data?.data.find(({ id }) => id === root.id);
  const figure = (count: number | undefined) => (count === undefined ? '…' : grouped(count));
  return (
    <Split
      side={
        <>
          <SectionCard title="Root certificate" description="Give it to whoever shall trust certificates of this root. It holds no secret.">
            <div className="flex flex-wrap gap-2">
              <Button icon={<Download />} onClick={() => saveFile(root.cert_pem, `${root.name}.pem`)}>
                PEM
              </Button>
              <Button icon={<Download />} onClick={() => saveFile(derOfPem(root.cert_pem), `${root.name}.crt`, 'application/pkix-cert')}>
                DER
              </Button>
              <Button icon={<Download />} loading={busy} onClick={() => void save(`/admin/pki/roots/${root.id}/chain`)}>
                Chain
              </Button>
            </div>
          </SectionCard>
          <Facts root={root} />
        </>
      }
    >
      <Notices root={root} summary={summary} />
      <div className="grid gap-3 sm:grid-cols-3">
        <Stat label="Valid certificates" value={figure(overview.data?.valid)} />
        <Stat label="Expire in 30 days" value={figure(overview.data?.expiring)} />
        <Stat label="Roles" value={figure(overview.data?.roles)} />
      </div>
      {overview.isError ? (
        <QueryError query={overview} what="Intermediates" />
      ) : (
        <Intermediates root={root} rows={overview.data?.intermediates} />
      )}
      {root.public_url && <PublicAddresses root={root} base={root.public_url} />}
      <SectionCard title="Trust this root" description="On each machine that connects to services with certificates of this root.">
        <TrustSteps name={root.name} url={root.public_url} />
      </SectionCard>
    </Split>
  );
}

const Facts = ({ root }: { root: Root }) => (
  <SectionCard title="Details">
    <KeyValueList
      items={[
        { label: 'Subject', value: root.subject },
        { label: 'Lifetime', value: <Life of={root} label="Lifetime of the root" /> },
        { label: 'Valid from', value: <Time value={root.not_before} format="datetime" /> },
        { label: 'Valid until', value: <Time value={root.not_after} format="datetime" /> },
        { label: 'Key', value: 'ECDSA P-256' },
        { label: 'Serial number', value: spelledSerial(root.serial_hex), copy: root.serial_hex },
        { label: 'SHA-256', value: spelledSerial(root.fingerprint_sha256), copy: root.fingerprint_sha256 },
        { label: 'Intermediates last', value: duration(root.intermediate_ttl_seconds), hint: 'A new one is made when a third is left.' },
        { label: 'Created', value: <Time value={root.created_at} format="datetime" /> },
      ]}
    />
  </SectionCard>
);

/** What stands in the way of issuing, or will. */
function Notices({ root, summary }: { root: Root; summary: Summary | undefined }) {
  const path = usePath();
  const settings = (
    <Link href={path(`/pki/${root.id}?tab=settings`)} className={textLink}>
      Settings
    </Link>
  );
  const longest = summary?.longest_ttl_seconds ?? 0;
  return (
    <>
      {root.status === 'retired' && (
        <Callout tone="warn" title="This root is retired">
          It issues nothing and makes no intermediates. Its revocation lists go on. Activate it again in {settings}.
        </Callout>
      )}
      {root.status === 'revoked' && (
        <Callout tone="bad" title="This root is revoked">
          Its intermediates are revoked with it. Remove it wherever it is trusted.
        </Callout>
      )}
      {root.status === 'active' && longest * 1.5 > root.intermediate_ttl_seconds && (
        <Callout tone="warn" title="Certificates may end earlier than their role allows">
          A role allows {duration(longest)}, and no certificate outlives the intermediate that signs it. Let intermediates last at least 1.5
          times as long, in {settings}.
        </Callout>
      )}
    </>
  );
}

/** Addresses without authentication, as certificates name them. */
const PublicAddresses = ({ root, base }: { root: Root; base: string }) => (
  <SectionCard title="Public addresses" description="Anyone can fetch these without a key. Certificates name them.">
    <KeyValueList
      items={[
        { label: 'Root, DER', value: `${base}/root.crt`, copy: `${base}/root.crt` },
        { label: 'Chain, PEM', value: `${base}/ca.pem`, copy: `${base}/ca.pem` },
        { label: 'CRL of the root', value: `${base}/root.crl`, copy: `${base}/root.crl` },
        ...(root.intermediate
          ? [
              {
                label: 'Intermediate, DER',
                value: `${base}/issuers/${root.intermediate.id}.crt`,
                copy: `${base}/issuers/${root.intermediate.id}.crt`,
              },
              {
                label: 'CRL of the intermediate',
                value: `${base}/crl/${root.intermediate.id}.crl`,
                copy: `${base}/crl/${root.intermediate.id}.crl`,
              },
            ]
          : []),
      ]}
    />
  </SectionCard>
);
