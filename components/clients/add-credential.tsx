'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { AddressNote, addressProblem } from './address-note.tsx';
import { CurrentAddress } from './client-form.tsx';
import type { Detail } from './client-labels.ts';

/** What is shown once after a credential was made, and what names it in calls. */
export type MadeKey = { id: string; kind: 'signature_hmac' | 'signature_ed25519' | 'mtls_thumbprint'; value: string };
type Props = { client: Detail; open: boolean; onOpenChange: (open: boolean) => void; onMade: (key: MadeKey) => void };

const KIND_OPTIONS = [
  { value: 'ip', label: 'IP address', detail: 'Calls from an address or range' },
  { value: 'mtls_thumbprint', label: 'Certificate', detail: 'TLS connections with a client certificate' },
  { value: 'signature_hmac', label: 'HMAC key', detail: 'Calls signed with a shared secret' },
  { value: 'signature_ed25519', label: 'Ed25519 key', detail: 'Calls signed with a private key that only the client has' },
] as const;
type Kind = (typeof KIND_OPTIONS)[number]['value'];

const SOURCES = {
  mtls_thumbprint: [
    { value: 'generate', label: 'Issue', detail: 'The certificate and its key are shown once' },
    { value: 'public', label: 'Paste a certificate', detail: 'Of any authority. Its key stays with the client' },
    { value: 'thumbprint', label: 'Enter a thumbprint', detail: 'The SHA-256 of a certificate' },
  ],
  signature_hmac: [
    { value: 'generate', label: 'Generate', detail: 'Shown once after it is created' },
    { value: 'import', label: 'Paste a secret', detail: 'At least 32 bytes' },
    { value: 'stored', label: 'Use a stored secret', detail: 'With its value of each environment' },
  ],
  signature_ed25519: [
    { value: 'generate', label: 'Generate', detail: 'The private key is shown once and not stored' },
    { value: 'public', label: 'Paste a public key', detail: 'The private key stays with the client' },
  ],
} as const;
type Source = 'generate' | 'import' | 'stored' | 'public' | 'thumbprint';

/** Another way to recognize a client: an address, a certificate, or a key that signs calls. */
export function AddCredentialSheet({ client, open, onOpenChange, onMade }: Props) {
  return (
    <Sheet open={open} onOpenChange={onOpenChange} title="Add credential" description={`Another way to recognize ${client.name}.`}>
      {open && <AddForm client={client} onDone={() => onOpenChange(false)} onMade={onMade} />}
    </Sheet>
  );
}

function AddForm({ client, onDone, onMade }: { client: Detail; onDone: () => void; onMade: Props['onMade'] }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [kind, setKind] = useState<Kind>('ip');
  const [source, setSource] = useState<Source>('generate');
  const [label, setLabel] = useState('');
  const [address, setAddress] = useState('');
  const [text, setText] = useState('');
  const [secretId, setSecretId] = useState<string | null>(null);
  const [days, setDays] = useState('365');
  const create = useMutation(
    trpc.clients.createCredential.mutationOptions({
      gcTime: 0,
      onSuccess: ({ id, kind: made, reveal }) => {
        void queryClient.invalidateQueries(trpc.clients.pathFilter());
        onDone();
        const value = reveal?.secret ?? (reveal?.private_key_pem && bundleOf(reveal));
        if (value && made !== 'ip') onMade({ id, kind: made, value });
        else notifyDone('Credential added');
        // The answer may hold a key, of which the dialog has the only copy now.
        create.reset();
      },
    }),
  );
  const data = dataOf(kind, source, { address: address.trim(), text: text.trim(), secretId, days });
  const input = { kind, data, ...(label.trim() ? { label: label.trim() } : {}) };
  const problem = problemOf(kind, source, { address, text, secretId, days });
  const choose = (next: Kind) => {
    setKind(next);
    setSource('generate');
    setText('');
  };
  return (
    <form
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (!problem) create.mutate({ id: client.id, ...input });
      }}
    >
      <Field label="Kind">
        <Select<Kind> options={KIND_OPTIONS} value={kind} onValueChange={choose} />
      </Field>
      {kind === 'ip' ? (
        <Field
          label="IP address or range"
          required
          action={<CurrentAddress onAddress={setAddress} />}
          error={address ? problem : undefined}
        >
          <Input mono value={address} onChange={(event) => setAddress(event.target.value)} placeholder="203.0.113.0/24" />
          <AddressNote text={address} />
        </Field>
      ) : (
        <>
          <Field label={kind === 'mtls_thumbprint' ? 'From' : 'Key'}>
            <Select<Source> options={SOURCES[kind]} value={source} onValueChange={setSource} />
          </Field>
          {source === 'import' && (
            <Field label="Secret" required error={text ? problem : undefined} hint="The key is exactly these bytes, in UTF-8.">
              <SecretInput value={text} onChange={(event) => setText(event.target.value)} />
            </Field>
          )}
          {kind === 'mtls_thumbprint' && (
            <CertificateFields source={source} text={text} onText={setText} days={days} onDays={setDays} problem={problem} />
          )}
          {source === 'public' && kind !== 'mtls_thumbprint' && (
            <Field label="Public key" required hint="SPKI PEM, or 32 bytes in base64url.">
              <Textarea
                mono
                rows={4}
                spellCheck={false}
                value={text}
                placeholder="-----BEGIN PUBLIC KEY-----"
                onChange={(event) => setText(event.target.value)}
              />
            </Field>
          )}
          {source === 'stored' && <StoredSecret value={secretId} onChange={setSecretId} />}
        </>
      )}
      <Field
        label="Label"
        optional
        hint={
          kind === 'ip' || kind === 'mtls_thumbprint'
            ? 'For example, the machine it belongs to.'
            : 'For example, the service that signs with it.'
        }
      >
        <Input value={label} maxLength={100} onChange={(event) => setLabel(event.target.value)} />
      </Field>
      <MutationError error={create.error} />
      <ApiEquivalent method="POST" path={`/clients/${client.id}/credentials`} body={shown(input)} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" loading={create.isPending} disabledReason={problem}>
          Add credential
        </Button>
      </div>
    </form>
  );
}

type Given = { address: string; text: string; secretId: string | null; days: string };

function dataOf(kind: Kind, source: Source, { address, text, secretId, days }: Given) {
  if (kind === 'ip') return { value: address };
  if (kind === 'mtls_thumbprint') {
    if (source === 'generate') return { mode: 'issue' as const, ttl_days: Number(days) };
    return { mode: 'register' as const, ...(source === 'public' ? { certificate_pem: text } : { thumbprint: text }) };
  }
  if (source === 'import') return { mode: 'import' as const, secret: text };
  if (source === 'public') return { public_key: text };
  return source === 'stored' ? { secret_id: secretId ?? '' } : { mode: 'generate' as const };
}

/** The call as code never holds a secret that was typed. */
const shown = (input: { data: object }) => ('secret' in input.data ? { ...input, data: { ...input.data, secret: 'YOUR_SECRET' } } : input);

function problemOf(kind: Kind, source: Source, { address, text, secretId, days }: Given): string | undefined {
  if (kind === 'ip') return address.trim() ? addressProblem([address])?.replace(`${address}: `, '') : 'Enter an IP address or range';
  if (kind === 'mtls_thumbprint') {
    if (source === 'generate')
      return Number.isInteger(Number(days)) && Number(days) >= 1 && Number(days) <= 825 ? undefined : 'Must be 1 to 825 days';
    if (source === 'public') return text.includes('BEGIN CERTIFICATE') ? undefined : 'Paste a certificate';
    return /^[0-9a-f]{64}$/i.test(text.replace(/[:\s]/g, '')) ? undefined : 'Must be 64 hex digits';
  }
  if (source === 'import') return new TextEncoder().encode(text.trim()).length < 32 ? 'Must be at least 32 bytes' : undefined;
  if (source === 'public') return text.trim() ? undefined : 'Paste a public key';
  return source === 'stored' && !secretId ? 'Choose a secret' : undefined;
}

/** What curl and most clients take as one file: the key, then the certificate, then who issued it. */
const bundleOf = (reveal: { private_key_pem?: string; certificate_pem?: string; ca_chain_pem?: string }): string =>
  [reveal.private_key_pem, reveal.certificate_pem, reveal.ca_chain_pem].join('').trimEnd();

type CertificateProps = {
  source: Source;
  text: string;
  onText: (text: string) => void;
  days: string;
  onDays: (days: string) => void;
  problem: string | undefined;
};

function CertificateFields({ source, text, onText, days, onDays, problem }: CertificateProps) {
  if (source === 'generate')
    return (
      <Field
        label="Valid for"
        required
        error={problem}
        hint="The certificate only proves who calls. It’s issued by an authority of this workspace."
      >
        <Input inputMode="numeric" suffix="days" className="sm:w-40" value={days} onChange={(event) => onDays(event.target.value.trim())} />
      </Field>
    );
  if (source === 'public')
    return (
      <Field label="Certificate" required error={text ? problem : undefined} hint="One certificate in PEM. Who issued it isn’t checked.">
        <Textarea
          mono
          rows={6}
          spellCheck={false}
          value={text}
          placeholder="-----BEGIN CERTIFICATE-----"
          onChange={(event) => onText(event.target.value)}
        />
      </Field>
    );
  return (
    <Field label="Thumbprint" required error={text ? problem : undefined} hint="SHA-256 in hex, with or without colons.">
      <Input mono spellCheck={false} autoComplete="off" value={text} onChange={(event) => onText(event.target.value)} />
    </Field>
  );
}

function StoredSecret({ value, onChange }: { value: string | null; onChange: (id: string | null) => void }) {
  const trpc = useTRPC();
  const [query, setQuery] = useState('');
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 50, secret_type: 'string', ...(query ? { q: query } : {}) }));
  return (
    <Field label="Secret" required hint="Its value in the environment of the call is the key. Use at least 32 random bytes.">
      <Combobox
        placeholder="Search secrets…"
        emptyText="No matching secrets."
        loading={secrets.isFetching}
        options={(secrets.data?.data ?? []).map(({ id, name, environment_names }) => ({
          value: id,
          label: name,
          detail: environment_names.length > 0 ? `Value in ${environment_names.join(', ')}` : 'No value',
        }))}
        value={value}
        onQueryChange={setQuery}
        onValueChange={onChange}
      />
    </Field>
  );
}
