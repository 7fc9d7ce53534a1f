'use client';

import { useMutation } from '@tanstack/react-query';
import { Check, X } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import type { AiOidcTestResult } from '#server/domain/ai-trust/schema.ts';

type Result = z.output<typeof AiOidcTestResult>;

/** A dry run of an exchange. The token is gone from the page as soon as it was sent; the answer doesn't hold it. */
export function TokenTest() {
  const trpc = useTRPC();
  const [token, setToken] = useState('');
  const [result, setResult] = useState<Result>();
  const test = useMutation(trpc.aiTrust.test.mutationOptions({ gcTime: 0 }));
  return (
    <SectionCard
      title="Test a token"
      description="Shows which rule fails. Nothing is minted or kept, and the token can still be exchanged."
    >
      <form
        className="flex max-w-2xl flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          const subject_token = token.trim();
          setToken('');
          if (subject_token === '') return;
          // The mutation keeps its input as long as it is shown; reset leaves nothing of it.
          test.mutate(
            { subject_token },
            {
              onSuccess: (answer) => {
                setResult(answer);
                test.reset();
              },
              onError: () => setResult(undefined),
            },
          );
        }}
      >
        <Field label="Identity token" hint="The signed token that the platform gave to a job. It begins with eyJ.">
          <SecretInput value={token} maxLength={16_384} onChange={(event) => setToken(event.target.value)} />
        </Field>
        <MutationError error={test.error} />
        <div>
          <Button type="submit" loading={test.isPending} disabledReason={token.trim() === '' ? 'Paste a token first' : undefined}>
            Test token
          </Button>
        </div>
        <ApiEquivalent method="POST" path="/ai-gateway/oidc-bindings/test" body={{ subject_token: '…' }} />
      </form>
      <div aria-live="polite">{result && <Outcome result={result} />}</div>
    </SectionCard>
  );
}

function Outcome({ result: { accepted, problem, already_exchanged, subject, issuer, bindings, binding_id } }: { result: Result }) {
  const chosen = bindings.find((one) => one.binding_id === binding_id);
  return (
    <div className="mt-4 flex flex-col gap-4">
      {accepted ? (
        <Callout tone="good" title={`This token can be exchanged by ${chosen?.name ?? 'a binding'}`} />
      ) : (
        <Callout
          tone="bad"
          title={problem ?? (already_exchanged ? 'This token has been exchanged already' : 'No binding that is on accepts this token')}
        />
      )}
      {issuer !== null && (
        <p className="text-ink-2 [overflow-wrap:anywhere]">
          <span className="font-mono text-xs">{subject ?? 'No subject'}</span> of <span className="font-mono text-xs">{issuer}</span>
        </p>
      )}
      {bindings.map((binding) => (
        <div key={binding.binding_id} className="flex flex-col gap-1.5">
          <h3 className="flex flex-wrap items-center gap-2 font-medium">
            {binding.name}
            {binding.matches ? <Badge tone="good">Matches</Badge> : <Badge>Doesn’t match</Badge>}
            {!binding.enabled && <Badge tone="warn">Off</Badge>}
          </h3>
          <ul className="flex flex-col">
            {binding.rules.map((rule, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rules have no identity but their place.
              <RuleLine key={index} rule={rule} />
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}

function RuleLine({ rule: { claim, expected, actual, matches } }: { rule: Result['bindings'][number]['rules'][number] }) {
  return (
    <li className="flex items-start gap-2 border-line border-t py-1.5 text-xs first:border-t-0">
      {matches ? (
        <Check aria-hidden className="mt-0.5 size-3.5 shrink-0 text-good-ink" />
      ) : (
        <X aria-hidden className="mt-0.5 size-3.5 shrink-0 text-bad-ink" />
      )}
      <span className="sr-only">{matches ? 'Met:' : 'Not met:'}</span>
      <span className="min-w-0 font-mono [overflow-wrap:anywhere]">
        <span className="text-ink-2">{claim}</span>{' '}
        {actual.length > 0 ? actual.join(', ') : <span className="font-sans text-ink-3">missing</span>}
        {!matches && (
          <span className="block text-ink-3">
            <span className="font-sans">expected</span> {expected.join(' or ')}
          </span>
        )}
      </span>
    </li>
  );
}
