'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';

export type StoreSecretProps = {
  suggestedName: string;
  /** What was already typed elsewhere and moves into custody. */
  value?: string;
  environment?: string | undefined;
  onStored: (secret: { id: string; name: string }) => void;
  onCancel?: () => void;
};

/** Takes a credential into custody without leaving the form it is needed in. */
export function StoreSecret({ suggestedName, value: given = '', environment, onStored, onCancel }: StoreSecretProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const heading = useId();
  const [name, setName] = useState(suggestedName);
  const [value, setValue] = useState(given);
  // The value must not stay in the cache of mutations.
  const store = useMutation({
    ...trpc.secrets.create.mutationOptions({
      onSuccess: async (secret) => {
        setValue('');
        await cache.invalidateQueries(trpc.secrets.pathFilter());
        onStored(secret);
      },
    }),
    gcTime: 0,
  });
  return (
    <fieldset aria-labelledby={heading} className="flex flex-col gap-3 rounded-lg border border-line-strong bg-subtle p-3">
      <p id={heading} className="font-medium text-sm">
        {given ? 'Store as a secret' : 'New secret'}
        <span className="block font-normal text-ink-3 text-xs">Encrypted when saved, and never shown again.</span>
      </p>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Name">
          <Input mono value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label={environment ? `Value in ${environment}` : 'Value'}>
          <SecretInput value={value} onChange={(event) => setValue(event.target.value)} />
        </Field>
      </div>
      <MutationError error={store.error} />
      <div className="flex justify-end gap-2">
        {onCancel && (
          <Button size="sm" onClick={onCancel}>
            Cancel
          </Button>
        )}
        <Button
          size="sm"
          variant="primary"
          loading={store.isPending}
          disabledReason={!name.trim() ? 'Enter a name' : !value ? 'Enter a value' : undefined}
          onClick={() => store.mutate({ name, value, ...(environment ? { environment } : {}) })}
        >
          Store secret
        </Button>
      </div>
    </fieldset>
  );
}
