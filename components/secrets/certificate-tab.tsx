'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { z } from 'zod';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { useDownload } from '#components/trpc/download.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { Form, useZodForm } from '#components/ui/form.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { SecretDetail } from '#server/domain/secrets/schema.ts';
import { CertificateFields, certificateMaterial, materialOf } from './certificate-fields.tsx';

type Detail = z.output<typeof SecretDetail>;
type Environment = Detail['environments'][number];

/** What a certificate says of itself in each environment; its bytes only behind the gate. */
export function SecretCertificate({ secret }: { secret: Detail }) {
  return (
    <div className="flex flex-col gap-4">
      {secret.environments.map((environment) => (
        <EnvironmentCertificate key={environment.environment_name} secret={secret} environment={environment} />
      ))}
    </div>
  );
}

function EnvironmentCertificate({ secret, environment }: { secret: Detail; environment: Environment }) {
  const label = useEnvironmentLabel();
  const readOnly = useForbidden('secret:update');
  const hidden = useRevealForbidden('secret:reveal');
  const { busy, save } = useDownload();
  const [replacing, setReplacing] = useState(false);
  const facts = environment.certificate;
  const place = encodeURIComponent(environment.environment_name);
  const file = (key: boolean) => `/admin/secrets/${secret.id}/certificate/download?environment=${place}&include_private_key=${key}`;
  return (
    <SectionCard
      title={`Certificate in ${label(environment.environment_name)}`}
      actions={
        <div className="flex flex-wrap gap-2">
          <Button icon={<Download />} loading={busy} disabledReason={hidden} onClick={() => void save(file(false))}>
            Download
          </Button>
          {facts?.has_private_key && (
            <Button icon={<Download />} loading={busy} disabledReason={hidden} onClick={() => void save(file(true))}>
              With private key
            </Button>
          )}
          <Button disabledReason={readOnly} onClick={() => setReplacing(true)}>
            Replace
          </Button>
        </div>
      }
    >
      {facts && (
        <KeyValueList
          items={[
            { label: 'Subject', value: facts.subject ?? 'No certificate' },
            { label: 'Issuer', value: facts.issuer ?? '—' },
            { label: 'Names', value: facts.subject_alternative_names.join(', ') || '—' },
            { label: 'Valid from', value: <Time key="from" value={facts.not_before} format="date" /> },
            { label: 'Valid until', value: <Time key="until" value={facts.expires_at} format="date" /> },
            { label: 'Certificates', value: String(facts.chain_length) },
            { label: 'Private key', value: facts.has_private_key ? 'Stored' : 'None' },
            { label: 'Serial number', value: facts.serial_number ?? '—' },
            { label: 'SHA-256', value: facts.fingerprint_sha256 ?? '—' },
          ]}
        />
      )}
      {replacing && <ReplaceDialog secret={secret} environment={environment.environment_name} onClose={() => setReplacing(false)} />}
    </SectionCard>
  );
}

const Replacement = z.object(certificateMaterial);

function ReplaceDialog({ secret, environment, onClose }: { secret: Detail; environment: string; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const form = useZodForm({ schema: Replacement, defaultValues: { certificate_content: '', private_key: '', passphrase: '' } });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  const update = useMutation(
    trpc.secrets.updateCertificate.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.secrets.pathFilter());
        notifyDone('Certificate replaced');
        onClose();
      },
    }),
  );
  const submit = (value: z.output<typeof Replacement>) => {
    clear();
    update.mutate({ id: secret.id, environment, ...materialOf(value) });
  };
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title="Replace certificate" description="New connections present it at once.">
      <Form form={form} onSubmit={submit} refusal={refusal}>
        {panel}
        <CertificateFields form={form} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" loading={update.isPending}>
            Replace certificate
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
