'use client';

import { useQuery } from '@tanstack/react-query';
import { Ban, Download } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { CERTIFICATE_STATES, type Detail, REASON_LABELS, type Reason, type Root, SOURCES, spelledSerial } from './pki-labels.ts';
import { RevokeCertificateDialog } from './revoke-dialogs.tsx';
import { fileName, saveFile } from './save-file.ts';

type Props = { root: Root; serial: string; open: boolean; onClose: () => void };

/** One certificate: its names, its dates, who asked for it, and its text. Its private key is nowhere. */
export function CertificateSheet({ root, serial, open, onClose }: Props) {
  const trpc = useTRPC();
  const query = useQuery(trpc.pki.getCertificate.queryOptions({ name: root.id, serial_hex: serial }, { enabled: open }));
  return (
    <Sheet open={open} onOpenChange={(next) => next || onClose()} title="Certificate" description={query.data?.subject || undefined}>
      {query.isError ? (
        <QueryError query={query} what="Certificate" />
      ) : query.data ? (
        <Facts root={root} certificate={query.data} />
      ) : (
        <Skeleton lines={8} label="Loading certificate" />
      )}
    </Sheet>
  );
}

function Facts({ root, certificate }: { root: Root; certificate: Detail }) {
  const cannotRevoke = useForbidden('pki:revoke');
  const [revoking, setRevoking] = useState(false);
  const { state, label } = CERTIFICATE_STATES[certificate.status];
  return (
    <div className="flex flex-col gap-4">
      <KeyValueList
        items={[
          { label: 'Status', value: <Status state={state}>{label}</Status> },
          ...(certificate.revoked_at
            ? [
                { label: 'Revoked', value: <Time value={certificate.revoked_at} format="datetime" /> },
                { label: 'Reason', value: REASON_LABELS[certificate.revocation_reason as Reason] ?? certificate.revocation_reason },
              ]
            : []),
          { label: 'Subject', value: certificate.subject || null },
          { label: 'DNS names', value: certificate.san_dns.join(', ') || null },
          { label: 'IP addresses', value: certificate.san_ip.join(', ') || null },
          { label: 'Role', value: certificate.role_name },
          { label: 'Valid from', value: <Time value={certificate.not_before} format="datetime" /> },
          { label: 'Valid until', value: <Time value={certificate.not_after} format="datetime" /> },
          { label: 'Made by', value: SOURCES[certificate.source] },
          { label: 'Asked for by', value: certificate.issued_by.label },
          { label: 'Serial number', value: spelledSerial(certificate.serial_hex), copy: certificate.serial_hex },
          { label: 'SHA-256', value: spelledSerial(certificate.fingerprint_sha256), copy: certificate.fingerprint_sha256 },
        ]}
      />
      <CodeBlock title="Certificate" snippets={[{ id: 'pem', label: 'PEM', language: 'text', code: certificate.cert_pem.trim() }]} />
      <div className="flex flex-wrap gap-2">
        <Button icon={<Download />} onClick={() => saveFile(certificate.cert_pem, `${fileName(certificate.serial_hex)}.pem`)}>
          Download
        </Button>
        <Button
          variant="danger-quiet"
          icon={<Ban />}
          disabledReason={cannotRevoke ?? (certificate.status === 'revoked' ? 'Already revoked' : undefined)}
          onClick={() => setRevoking(true)}
        >
          Revoke
        </Button>
      </div>
      <RevokeCertificateDialog root={root} certificate={revoking ? certificate : undefined} onClose={() => setRevoking(false)} />
    </div>
  );
}
