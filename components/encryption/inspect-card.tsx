'use client';

import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { refusalView } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard } from '#components/ui/layout.tsx';

/** What a sealed value says of itself. Nothing is decrypted. */
export function InspectCard() {
  const trpc = useTRPC();
  const [typed, setTyped] = useState('');
  const found = useMutation(trpc.encryption.inspect.mutationOptions());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    found.mutate({ value: typed.trim() });
  };
  return (
    <SectionCard title="Inspect" description="Reads the key and type of a sealed value, without opening it.">
      <form onSubmit={submit} className="flex flex-col gap-3">
        <Field label="Sealed value">
          <Textarea mono rows={2} value={typed} placeholder="kc:1:s:…:$" onChange={(event) => setTyped(event.target.value)} />
        </Field>
        <div>
          <Button
            type="submit"
            size="sm"
            loading={found.isPending}
            disabledReason={typed.trim() === '' ? 'Paste a value first' : undefined}
          >
            Inspect
          </Button>
        </div>
        <ApiEquivalent method="POST" path="/inspect" body={{ value: typed.trim() || 'kc:1:s:…:$' }} />
      </form>
      <div role="status" className="mt-3 empty:hidden">
        {found.isError && <p className="text-bad-ink">{refusalView(found.error).message}</p>}
        {found.data && !found.data.encrypted && (
          <p className="text-ink-2">This isn’t a sealed value. A sealed value starts with kc: and ends with :$.</p>
        )}
        {found.data?.encrypted && (
          <KeyValueList
            items={[
              { label: 'Type', value: found.data.datatype },
              { label: 'Key', value: found.data.key_ref?.appKeyId, copy: found.data.key_ref?.appKeyId ?? '' },
              { label: 'Version', value: String(found.data.key_ref?.keyVersion) },
              { label: 'Workspace', value: found.data.key_ref?.tenantId, copy: found.data.key_ref?.tenantId ?? '' },
              { label: 'Fingerprint', value: found.data.fingerprint, copy: found.data.fingerprint ?? '' },
            ]}
          />
        )}
      </div>
    </SectionCard>
  );
}
