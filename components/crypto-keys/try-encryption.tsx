'use client';

import { useMutation } from '@tanstack/react-query';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { RevealField } from '#components/ui/reveal-field.tsx';
import { type Detail, nameInPath } from './key-labels.ts';
import { base64Of, Result, TryForm, useText } from './try-form.tsx';

/** What a ciphertext is bound to beside the key: the context of a derived key, and associated data unless the key is convergent. */
function useBinding(crypto: Detail, hint: string) {
  const [context, contextField] = useText();
  const [aad, aadField] = useText();
  const input = {
    ...(crypto.derived ? { context_b64: base64Of(context) } : {}),
    ...(aad === '' ? {} : { associated_data_b64: base64Of(aad) }),
  };
  const fields = (
    <>
      {crypto.derived && (
        <Field label="Context" required hint={`Chooses the key. ${hint}`}>
          <Input mono autoComplete="off" placeholder="customer:17" {...contextField} />
        </Field>
      )}
      {!crypto.convergent && (
        <Field label="Associated data" optional hint={`Bound to the ciphertext, such as a row ID. ${hint}`}>
          <Input mono autoComplete="off" placeholder="row:42" {...aadField} />
        </Field>
      )}
    </>
  );
  return { input, fields, missing: crypto.derived && context === '' ? 'Enter a context first' : undefined };
}

export function TryEncrypt({ crypto }: { crypto: Detail }) {
  const trpc = useTRPC();
  const forbidden = useForbidden('transit:encrypt');
  const [plaintext, plaintextField] = useText();
  const bound = useBinding(crypto, 'The same text is needed to decrypt.');
  const encrypt = useMutation(trpc.cryptoKeys.encrypt.mutationOptions({ gcTime: 0 }));
  const result = encrypt.data && 'ciphertext' in encrypt.data ? encrypt.data : undefined;
  return (
    <TryForm
      label="Encrypt"
      disabledReason={forbidden ?? bound.missing}
      call={encrypt}
      onRun={() => encrypt.mutate({ name: crypto.id, plaintext, ...bound.input })}
      api={
        <ApiEquivalent
          method="POST"
          path={`/crypto/keys/${nameInPath(crypto)}/encrypt`}
          body={{ plaintext: plaintext || 'Jane Doe', ...bound.input }}
        />
      }
      result={result && <Result label={`Ciphertext, version ${result.key_version}`} code={result.ciphertext} />}
    >
      <Field label="Plaintext">
        <Textarea rows={3} autoComplete="off" spellCheck={false} placeholder="Jane Doe" {...plaintextField} />
      </Field>
      {bound.fields}
    </TryForm>
  );
}

/** The fields that decrypt and rewrap share, with the gate below them. */
function useCiphertext(crypto: Detail) {
  const [ciphertext, ciphertextField] = useText();
  const bound = useBinding(crypto, 'The text that was given when it was encrypted.');
  const input = { ciphertext: ciphertext.trim(), ...bound.input };
  const fields = (
    <>
      <Field label="Ciphertext">
        <Textarea rows={3} mono autoComplete="off" placeholder="svc:v1:…" {...ciphertextField} />
      </Field>
      {bound.fields}
    </>
  );
  return { input, fields, missing: ciphertext.trim() === '' ? 'Enter a ciphertext first' : bound.missing };
}

export function TryDecrypt({ crypto }: { crypto: Detail }) {
  const client = useTRPCClient();
  const forbidden = useRevealForbidden('transit:decrypt');
  const { input, fields, missing } = useCiphertext(crypto);
  return (
    <div className="flex flex-col gap-4">
      {fields}
      <RevealField
        // What was shown of another ciphertext goes.
        key={JSON.stringify(input)}
        label="plaintext"
        tall
        disabledReason={forbidden ?? missing}
        reveal={async (reason) => {
          const { plaintext, plaintext_b64, reveals_left } = await client.cryptoKeys.reveal_decrypt.mutate(
            { name: crypto.id, ...input },
            revealCall(reason),
          );
          // Bytes that are no text are shown as base64.
          return { value: plaintext ?? plaintext_b64, left: reveals_left };
        }}
      />
      <ApiEquivalent
        method="POST"
        path={`/crypto/keys/${nameInPath(crypto)}/decrypt`}
        body={{ ...input, ciphertext: input.ciphertext || 'svc:v1:…' }}
      />
    </div>
  );
}

export function TryRewrap({ crypto }: { crypto: Detail }) {
  const client = useTRPCClient();
  const forbidden = useRevealForbidden('transit:rewrap');
  const { input, fields, missing } = useCiphertext(crypto);
  return (
    <div className="flex flex-col gap-4">
      {fields}
      <RevealField
        key={JSON.stringify(input)}
        label="new ciphertext"
        tall
        disabledReason={forbidden ?? missing}
        reveal={async (reason) => {
          const { ciphertext, reveals_left } = await client.cryptoKeys.reveal_rewrap.mutate(
            { name: crypto.id, ...input },
            revealCall(reason),
          );
          return { value: ciphertext, left: reveals_left };
        }}
      />
      <ApiEquivalent
        method="POST"
        path={`/crypto/keys/${nameInPath(crypto)}/rewrap`}
        body={{ ...input, ciphertext: input.ciphertext || 'svc:v1:…' }}
      />
    </div>
  );
}
