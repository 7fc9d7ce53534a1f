'use client';

import { type FormEvent, type ReactNode, useState } from 'react';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import type { Language } from '#components/ui/highlight.ts';
import { Select } from '#components/ui/select.tsx';
import { KEY_TYPES, type RSA_PADDINGS, type SignatureHash } from '#server/domain/crypto-keys/key-types.shared.ts';
import type { Detail } from './key-labels.ts';

/** Text as base64 of its UTF-8, for fields that take bytes. */
export const base64Of = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

type TryFormProps = {
  label: string;
  disabledReason: string | undefined;
  call: { isPending: boolean; error: unknown };
  onRun: () => void;
  /** The same call on /v1. */
  api: ReactNode;
  children: ReactNode;
  /** What came of it. */
  result: ReactNode;
};

/** Fields, a button, the same call as code, and the result. */
export function TryForm({ label, disabledReason, call, onRun, api, children, result }: TryFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (disabledReason === undefined && !call.isPending) onRun();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {children}
      <div>
        <Button type="submit" variant="primary" loading={call.isPending} disabledReason={disabledReason}>
          {label}
        </Button>
      </div>
      <MutationError error={call.error} />
      <div aria-live="polite" className="flex flex-col gap-3 empty:hidden">
        {!call.error && result}
      </div>
      {api}
    </form>
  );
}

/** What an operation answered, to copy. */
export const Result = ({ label, code, language = 'text' }: { label: string; code: string; language?: Language }) => (
  <CodeBlock title={label} wrap snippets={[{ id: 'result', label, language, code }]} />
);

/** What a person chose of hash and padding; undefined is the default. */
export type Scheme = { hash?: SignatureHash; rsa_padding?: (typeof RSA_PADDINGS)[number] };

const HASHES = { sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' } as const;
const PADDINGS = { pss: 'PSS', pkcs1v15: 'PKCS #1 v1.5' } as const;

/** Hash and padding, where the type of the key has a choice. */
export function SchemeFields({ crypto, scheme, onChange }: { crypto: Detail; scheme: Scheme; onChange: (scheme: Scheme) => void }) {
  const { hashes, paddings } = KEY_TYPES[crypto.key_type];
  const [defaultHash] = hashes;
  if (!defaultHash) return null;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label="Hash">
        <Select
          options={hashes.map((hash) => ({ value: hash, label: HASHES[hash] }))}
          value={scheme.hash ?? defaultHash}
          onValueChange={(hash) => onChange({ ...scheme, hash })}
        />
      </Field>
      {paddings.length > 0 && (
        <Field label="Padding">
          <Select
            options={paddings.map((padding) => ({ value: padding, label: PADDINGS[padding] }))}
            value={scheme.rsa_padding ?? 'pss'}
            onValueChange={(rsa_padding) => onChange({ ...scheme, rsa_padding })}
          />
        </Field>
      )}
    </div>
  );
}

/** A field's text, and what to do when it changes: for textareas and inputs. */
export function useText(initial = ''): [text: string, wiring: { value: string; onChange: (event: { target: { value: string } }) => void }] {
  const [text, setText] = useState(initial);
  return [text, { value: text, onChange: (event) => setText(event.target.value) }];
}
