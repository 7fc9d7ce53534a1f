'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { Field } from '#components/ui/field.tsx';
import { Select } from '#components/ui/select.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type Certificate, type Intermediate, inPath, REASON_LABELS, type Reason, type Root } from './pki-labels.ts';

const LEAF_REASONS = (Object.entries(REASON_LABELS) as [Reason, string][]).map(([value, label]) => ({ value, label }));
type IntermediateReason = Reason | 'ca_compromise';
const INTERMEDIATE_REASONS: { value: IntermediateReason; label: string }[] = [
  { value: 'ca_compromise', label: 'The authority may be known to others' },
  ...LEAF_REASONS,
];

type Shown = Pick<Certificate, 'serial_hex' | 'subject'>;

/** Asks for the reason before a certificate is taken back. */
export function RevokeCertificateDialog({
  root,
  certificate,
  onClose,
}: {
  root: Root;
  certificate: Shown | undefined;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const [reason, setReason] = useState<Reason>('unspecified');
  const revoke = useMutation(
    trpc.pki.revoke.mutationOptions({
      onSuccess: () => {
        notifyDone('Certificate revoked');
        onClose();
        return queryClient.invalidateQueries(trpc.pki.pathFilter());
      },
    }),
  );
  const serial_hex = certificate?.serial_hex ?? '';
  return (
    <ConfirmDanger
      open={certificate !== undefined}
      onOpenChange={(next) => {
        if (next) return;
        revoke.reset();
        onClose();
      }}
      title={`Revoke ${certificate?.subject || serial_hex}?`}
      consequences={[
        'It goes onto the revocation list within seconds. This can’t be undone.',
        'Who checks the list refuses it as soon as they fetch it again.',
        'Who doesn’t check goes on accepting it until it expires.',
      ]}
      confirmLabel="Revoke certificate"
      space={space}
      busy={revoke.isPending}
      error={revoke.error ? refusalOf(revoke.error) : undefined}
      onConfirm={() => revoke.mutate({ name: root.id, serial_hex, reason })}
    >
      <Field label="Reason" hint="It stands in the revocation list.">
        <Select options={LEAF_REASONS} value={reason} onValueChange={setReason} />
      </Field>
      <ApiEquivalent method="POST" path={`/pki/roots/${inPath(root)}/revoke`} body={{ serial_hex, reason }} />
    </ConfirmDanger>
  );
}

type IntermediateProps = { root: Root; intermediate: Intermediate | undefined; onClose: () => void };

/** Asks before an intermediate, and everything that it signed, is taken back. */
export function RevokeIntermediateDialog({ root, intermediate, onClose }: IntermediateProps) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const [reason, setReason] = useState<IntermediateReason>('ca_compromise');
  const revoke = useMutation(
    trpc.pki.revokeIntermediate.mutationOptions({
      onSuccess: () => {
        notifyDone('Intermediate revoked');
        onClose();
        return queryClient.invalidateQueries(trpc.pki.pathFilter());
      },
    }),
  );
  const id = intermediate?.id ?? '';
  return (
    <ConfirmDanger
      open={intermediate !== undefined}
      onOpenChange={(next) => {
        if (next) return;
        revoke.reset();
        onClose();
      }}
      title={`Revoke ${intermediate?.subject ?? 'the intermediate'}?`}
      consequences={[
        'It goes onto the root’s revocation list. This can’t be undone.',
        'Every certificate that it signed stops being trusted by who checks the list: issue new ones.',
        ...(root.status === 'active' ? ['A new intermediate is made at once.'] : []),
      ]}
      confirmLabel="Revoke intermediate"
      resourceName={root.name}
      space={space}
      busy={revoke.isPending}
      error={revoke.error ? refusalOf(revoke.error) : undefined}
      onConfirm={() => revoke.mutate({ name: root.id, id, reason })}
    >
      <Field label="Reason" hint="It stands in the revocation list.">
        <Select options={INTERMEDIATE_REASONS} value={reason} onValueChange={setReason} />
      </Field>
      <ApiEquivalent method="POST" path={`/pki/roots/${inPath(root)}/intermediates/${id}/revoke`} body={{ reason }} />
    </ConfirmDanger>
  );
}
