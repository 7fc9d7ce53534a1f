'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { listOf } from '#components/secrets/secret-text.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { PRESETS, type Preset } from './presets.ts';
import { WaysIn } from './ways-in.tsx';

type Stored = { secret_id: string; name: string; allowed_hosts: string[] };
type Draft = { preset: Preset; name: string; value: string; hosts: string; header: string; prefix: string };

const draftOf = (preset: Preset): Draft => ({
  preset,
  name: preset.id === 'other' ? '' : `${preset.id.toUpperCase()}_SDK_KEY`,
  value: '',
  hosts: preset.hosts.join('\n'),
  header: preset.header,
  prefix: preset.prefix,
});

/** From a provider's key to a working SDK: the key is stored, then the ways to use it are shown. */
export function Wizard({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [stored, setStored] = useState<{ credential: Stored; preset: Preset }>();
  const close = () => {
    setStored(undefined);
    onClose();
  };
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || close()}
      title={stored ? 'Use it in your code' : 'Wrap an SDK'}
      description={
        stored
          ? `${stored.credential.name} is stored. Its value is never shown again.`
          : 'Store the key here, then point the SDK at the gateway.'
      }
      size="lg"
    >
      {!open ? null : stored ? (
        <>
          <WaysIn
            secretId={stored.credential.secret_id}
            name={stored.credential.name}
            hosts={stored.credential.allowed_hosts}
            preset={stored.preset}
          />
          <Button className="mt-4 w-fit" onClick={close}>
            Done
          </Button>
        </>
      ) : (
        <Escrow onStored={(credential, preset) => setStored({ credential, preset })} />
      )}
    </Sheet>
  );
}

function Escrow({ onStored }: { onStored: (credential: Stored, preset: Preset) => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const readOnly = useForbidden('secret:create');
  const [draft, setDraft] = useState(() => draftOf(PRESETS[0]));
  const set = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const hosts = listOf(draft.hosts);
  const create = useMutation(
    trpc.wrap.createCredential.mutationOptions({
      gcTime: 0,
      onSuccess: async (credential) => {
        set({ value: '' });
        onStored(credential, draft.preset);
        await Promise.all([cache.invalidateQueries(trpc.wrap.pathFilter()), cache.invalidateQueries(trpc.secrets.pathFilter())]);
      },
    }),
  );
  const missing = !draft.name.trim()
    ? 'Name the credential'
    : !draft.value
      ? 'Paste the key'
      : hosts.length === 0
        ? 'Name at least one host'
        : undefined;
  const body = {
    provider: draft.preset.id,
    name: draft.name,
    hosts,
    ...((draft.header !== 'Authorization' || draft.prefix !== 'Bearer ') && { header_name: draft.header, value_prefix: draft.prefix }),
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (missing) return;
        create.mutate({ ...body, value: draft.value });
      }}
    >
      <Field label="Provider" group>
        <div className="overflow-x-auto">
          <Segmented
            label="Provider"
            value={draft.preset.id}
            onValueChange={(id) => setDraft(draftOf(PRESETS.find((preset) => preset.id === id) ?? PRESETS[0]))}
            options={PRESETS.map(({ id, label }) => ({ value: id, label }))}
          />
        </div>
      </Field>
      <Field label="Key" required hint="Sent once and encrypted. Nobody can read it back from here.">
        <SecretInput value={draft.value} format={draft.preset.format} onChange={(event) => set({ value: event.target.value })} />
      </Field>
      <Field label="Name" required hint="Code refers to the key by this name.">
        <Input mono value={draft.name} maxLength={128} onChange={(event) => set({ name: event.target.value })} />
      </Field>
      <Field label="Hosts" required hint="The key is sent to these hosts and nowhere else. One exact hostname per line.">
        <Textarea
          mono
          rows={2}
          value={draft.hosts}
          placeholder="api.example.com"
          onChange={(event) => set({ hosts: event.target.value })}
        />
      </Field>
      {draft.preset.id === 'other' && (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Header">
            <Input mono value={draft.header} maxLength={64} onChange={(event) => set({ header: event.target.value })} />
          </Field>
          <Field label="Text before the key" optional>
            <Input mono value={draft.prefix} maxLength={64} onChange={(event) => set({ prefix: event.target.value })} />
          </Field>
        </div>
      )}
      {draft.preset.id === 'stripe' && (
        <Callout title="Cards never pass through here">
          Calls to /v1/tokens and /v1/sources are refused: collect card numbers with Stripe's own page elements.
        </Callout>
      )}
      <ApiEquivalent method="POST" path="/wrap/credentials" body={{ ...body, value: 'THE_KEY' }} />
      <MutationError error={create.error} />
      <Button variant="primary" type="submit" className="w-fit" loading={create.isPending} disabledReason={readOnly ?? missing}>
        Store key
      </Button>
    </form>
  );
}
