'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Field } from '#components/ui/field.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { type Detail, nameInPath } from './key-labels.ts';
import { Result, type Scheme, SchemeFields, TryForm, useText } from './try-form.tsx';

export function TrySign({ crypto }: { crypto: Detail }) {
  const trpc = useTRPC();
  const forbidden = useForbidden('transit:sign');
  const [data, dataField] = useText();
  const [scheme, setScheme] = useState<Scheme>({});
  const sign = useMutation(trpc.cryptoKeys.sign.mutationOptions({ gcTime: 0 }));
  const result = sign.data && 'signature' in sign.data ? sign.data : undefined;
  return (
    <TryForm
      label="Sign"
      disabledReason={forbidden}
      call={sign}
      onRun={() => sign.mutate({ name: crypto.id, data, ...scheme })}
      api={<ApiEquivalent method="POST" path={`/crypto/keys/${nameInPath(crypto)}/sign`} body={{ data: data || 'hello', ...scheme }} />}
      result={result && <Result label={`Signature, version ${result.key_version}`} code={result.signature} />}
    >
      <Field label="Data">
        <Textarea rows={3} autoComplete="off" spellCheck={false} placeholder="hello" {...dataField} />
      </Field>
      <SchemeFields crypto={crypto} scheme={scheme} onChange={setScheme} />
    </TryForm>
  );
}

export function TryVerify({ crypto }: { crypto: Detail }) {
  const trpc = useTRPC();
  const forbidden = useForbidden('transit:verify');
  const [data, dataField] = useText();
  const [signature, signatureField] = useText();
  const [scheme, setScheme] = useState<Scheme>({});
  const verify = useMutation(trpc.cryptoKeys.verify.mutationOptions({ gcTime: 0 }));
  const input = { data, signature: signature.trim(), ...scheme };
  const result = verify.data && 'valid' in verify.data ? verify.data : undefined;
  // The verdict is about what was sent, not about what is typed now.
  const current = result && JSON.stringify(verify.variables) === JSON.stringify({ name: crypto.id, ...input });
  return (
    <TryForm
      label="Verify"
      disabledReason={forbidden ?? (input.signature === '' ? 'Enter a signature first' : undefined)}
      call={verify}
      onRun={() => verify.mutate({ name: crypto.id, ...input })}
      api={
        <ApiEquivalent
          method="POST"
          path={`/crypto/keys/${nameInPath(crypto)}/verify`}
          body={{ ...input, data: data || 'hello', signature: input.signature || 'svc:v1:…' }}
        />
      }
      result={
        result &&
        current && (
          <Status state={result.valid ? 'ok' : 'failing'}>
            {result.valid ? `Valid, signed with version ${result.key_version}` : 'Not valid for this data and key'}
          </Status>
        )
      }
    >
      <Field label="Data">
        <Textarea rows={3} autoComplete="off" spellCheck={false} placeholder="hello" {...dataField} />
      </Field>
      <Field label="Signature" hint="As sign returns it, or only its base64.">
        <Textarea rows={2} mono autoComplete="off" placeholder="svc:v1:…" {...signatureField} />
      </Field>
      <SchemeFields crypto={crypto} scheme={scheme} onChange={setScheme} />
    </TryForm>
  );
}
