'use client';

import { useId, useState } from 'react';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { useStoreSecret } from './use-store-secret.ts';

export type StoreSecretProps = {
  suggestedName: string;
  environment?: string | undefined;
  onStored: (secret: { id: string; name: string }) => void;
  onCancel?: () => void;
};

/** Takes a credential into custody without leaving the form it is needed in. */
export function StoreSecret({ suggestedName, environment, onStored, onCancel }: StoreSecretProps) {
  const heading = useId();
  const [name, setName] = useState(suggestedName);
  const [value, setValue] = useState('');
  const store = useStoreSecret((secret) => {
    setValue('');
    onStored(secret);
  });
  return (
    <fieldset aria-labelledby={heading} className="flex flex-col gap-3 rounded-lg border border-line-strong bg-subtle p-3">
      <p id={heading} className="font-medium text-sm">
        New secret
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
