'use client';

import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { splitScheme } from '#server/domain/routes/config/literal-credential.shared.ts';
import { useSecretNames } from './secret-picker.tsx';
import { useStoreSecret } from './use-store-secret.ts';

export type StoreLiteralProps = {
  /** What the text looks like, e.g. "a Stripe key". */
  what: string;
  /** Where it stands, when that is not plain to see. */
  place?: string;
  text: string;
  suggestedName: string;
  environment: string | undefined;
  /** The template that takes the text's place. */
  onStored: (template: string) => void;
};

/** Warns about a literal credential in a route, and stores it as a secret with one press. */
export function StoreLiteral({ what, place, text, suggestedName, environment, onStored }: StoreLiteralProps) {
  const [typed, setTyped] = useState<string>();
  const taken = new Set([...useSecretNames().values()].map((secret) => secret.name.toUpperCase()));
  const { scheme, credential } = splitScheme(text);
  const store = useStoreSecret((secret) => onStored(`${scheme}{{secret_id:${secret.id}}}`));
  const name = typed ?? freeName(suggestedName, taken);
  // What is stored is a value, and placeholders in values are never filled in.
  const isWhole = !text.includes('{{');
  return (
    <Callout
      tone="warn"
      title={place ? `${place} looks like ${what}.` : `This looks like ${what}.`}
      actions={
        isWhole && (
          <Button
            size="sm"
            icon={<KeyRound />}
            loading={store.isPending}
            disabledReason={name.trim() ? undefined : 'Enter a name'}
            onClick={() => store.mutate({ name, value: credential, ...(environment ? { environment } : {}) })}
          >
            Store as a secret
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-2">
        <p>Anyone who can view this route can read it. Store it as a secret to encrypt it.</p>
        {isWhole && (
          <Field label="Secret name" className="max-w-80">
            <Input mono value={name} onChange={(event) => setTyped(event.target.value)} />
          </Field>
        )}
        <MutationError error={store.error} />
      </div>
    </Callout>
  );
}

/** `STRIPE_TOKEN_2` when `STRIPE_TOKEN` is taken. */
function freeName(wanted: string, taken: ReadonlySet<string>): string {
  for (let n = 2, name = wanted; ; n++) {
    if (!taken.has(name)) return name;
    name = `${wanted}_${n.toString()}`;
  }
}
