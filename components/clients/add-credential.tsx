'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { AddressNote, addressProblem } from './address-note.tsx';
import { CurrentAddress } from './client-form.tsx';
import type { Detail } from './words.ts';

/** What is shown once after something was generated. */
export type Revealed = { value: string; title: string; label: string; filename: string };

type Props = { client: Detail; open: boolean; onOpenChange: (open: boolean) => void; onRevealed: (revealed: Revealed) => void };

const MODES = [
  { value: 'ip', title: 'Address', description: 'One address or range it calls from.' },
  { value: 'issue', title: 'Issue a certificate', description: 'We make a key pair and certificate; you download them once.' },
  { value: 'register', title: 'Register a certificate', description: 'One it already has, by PEM or SHA-256 thumbprint.' },
  { value: 'hmac', title: 'HMAC key', description: 'A shared key to sign requests with, generated and shown once.' },
  { value: 'ed25519', title: 'Ed25519 key', description: 'A key pair to sign with; we keep only the public half.' },
] as const;
type Mode = (typeof MODES)[number]['value'];

export function AddCredentialSheet({ client, open, onOpenChange, onRevealed }: Props) {
  return (
    <Sheet open={open} onOpenChange={onOpenChange} title="Add credential" description={`Another way to recognise ${client.name}.`}>
      {open && <AddForm client={client} onDone={() => onOpenChange(false)} onRevealed={onRevealed} />}
    </Sheet>
  );
}

function AddForm({ client, onDone, onRevealed }: { client: Detail; onDone: () => void; onRevealed: Props['onRevealed'] }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [mode, setMode] = useState<Mode>('ip');
  const [label, setLabel] = useState('');
  const [address, setAddress] = useState('');
  const [days, setDays] = useState('365');
  const [material, setMaterial] = useState('');
  const file = client.name.replace(/[^\w.-]+/g, '-');
  const create = useMutation(
    trpc.clients.createCredential.mutationOptions({
      gcTime: 0,
      onSuccess: ({ reveal }) => {
        void queryClient.invalidateQueries(trpc.clients.pathFilter());
        onDone();
        if (reveal?.secret) onRevealed({ value: reveal.secret, title: 'Your HMAC key', label: 'HMAC key', filename: `${file}-hmac.txt` });
        else if (reveal?.certificate_pem)
          onRevealed({
            value: [reveal.private_key_pem, reveal.certificate_pem, reveal.ca_chain_pem].filter(Boolean).join('\n').trim(),
            title: 'Key and certificate',
            label: 'private key with its certificate',
            filename: `${file}.pem`,
          });
        else if (reveal?.private_key_pem)
          onRevealed({
            value: reveal.private_key_pem.trim(),
            title: 'Your private key',
            label: 'private key',
            filename: `${file}-ed25519.pem`,
          });
        else notifyDone('Credential added');
        create.reset();
      },
    }),
  );
  const problem = problemOf(mode, { address, days, material });
  const submit = () => {
    if (problem) return;
    create.mutate({ id: client.id, ...(label.trim() ? { label: label.trim() } : {}), ...inputOf(mode, { address, days, material }) });
  };
  return (
    <form
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Field group label="Kind">
        <RadioCards options={MODES} value={mode} onValueChange={setMode} />
      </Field>
      {mode === 'ip' && (
        <Field label="Address or range" required action={<CurrentAddress onAddress={setAddress} />} error={address ? problem : undefined}>
          <Input mono value={address} onChange={(event) => setAddress(event.target.value)} placeholder="203.0.113.0/24" />
          <AddressNote text={address} />
        </Field>
      )}
      {mode === 'issue' && (
        <Field label="Valid for" error={problem}>
          <Input inputMode="numeric" suffix="days" className="max-w-40" value={days} onChange={(event) => setDays(event.target.value)} />
        </Field>
      )}
      {mode === 'register' && (
        <Field
          label="Certificate or thumbprint"
          required
          error={material ? problem : undefined}
          hint="A PEM, or 64 hexadecimal digits with or without colons."
        >
          <Textarea
            mono
            rows={5}
            value={material}
            onChange={(event) => setMaterial(event.target.value)}
            placeholder="-----BEGIN CERTIFICATE-----"
          />
        </Field>
      )}
      {mode === 'ed25519' && (
        <Field
          label="Public key"
          optional
          error={material ? problem : undefined}
          hint="Empty: we generate a pair and show the private half once."
        >
          <Textarea
            mono
            rows={3}
            value={material}
            onChange={(event) => setMaterial(event.target.value)}
            placeholder="-----BEGIN PUBLIC KEY-----"
          />
        </Field>
      )}
      {mode !== 'ip' && (
        <Callout title="Prepared now, checked later">
          Calls are recognised by address in this release. Certificates and signatures are stored and count once a later release checks
          them.
        </Callout>
      )}
      <Field label="Label" optional hint="For you, such as the machine it is on.">
        <Input value={label} maxLength={100} onChange={(event) => setLabel(event.target.value)} />
      </Field>
      <MutationError error={create.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" loading={create.isPending} disabledReason={problem}>
          {mode === 'issue'
            ? 'Issue certificate'
            : mode === 'hmac' || (mode === 'ed25519' && !material.trim())
              ? 'Generate key'
              : 'Add credential'}
        </Button>
      </div>
    </form>
  );
}

type Typed = { address: string; days: string; material: string };

function problemOf(mode: Mode, { address, days, material }: Typed): string | undefined {
  if (mode === 'ip') return address.trim() ? addressProblem([address])?.replace(`${address}: `, '') : 'Type an address or range';
  if (mode === 'issue') return /^\d{1,3}$/.test(days) && Number(days) >= 1 && Number(days) <= 825 ? undefined : 'From 1 to 825 days';
  if (mode === 'register') return material.trim() ? undefined : 'Paste a certificate or a thumbprint';
  return undefined;
}

function inputOf(mode: Mode, { address, days, material }: Typed) {
  const text = material.trim();
  if (mode === 'ip') return { kind: 'ip' as const, data: { value: address.trim() } };
  if (mode === 'issue') return { kind: 'mtls_thumbprint' as const, data: { mode: 'issue' as const, ttl_days: Number(days) } };
  if (mode === 'register')
    return {
      kind: 'mtls_thumbprint' as const,
      data: { mode: 'register' as const, ...(text.includes('-----') ? { certificate_pem: text } : { thumbprint: text }) },
    };
  if (mode === 'hmac') return { kind: 'signature_hmac' as const, data: { mode: 'generate' as const } };
  return { kind: 'signature_ed25519' as const, data: text ? { public_key: text } : { mode: 'generate' as const } };
}
