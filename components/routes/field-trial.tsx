'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { TYPE_WORDS } from './field-action-words.ts';

const TYPES = Object.keys(TYPE_WORDS) as (keyof typeof TYPE_WORDS)[];

/** A sample body and what the request actions make of it. Nothing is sent, and no revealed value is shown. */
export function FieldTrial({ routeId, env, readOnly }: { routeId: string; env: string; readOnly: string | undefined }) {
  const trpc = useTRPC();
  const [type, setType] = useState<(typeof TYPES)[number]>('application/json');
  const [body, setBody] = useState('{"card": {"number": "4242424242424242"}}');
  const trial = useMutation(trpc.routes.test.mutationOptions());
  const { data } = trial;
  return (
    <SectionCard
      title="Try it"
      description="See what your request actions make of a sample body. Nothing is sent to the upstream or stored."
    >
      <div className="flex flex-col items-start gap-4">
        <Field label="Media type">
          <Select
            className="max-w-72"
            value={type}
            onValueChange={setType}
            options={TYPES.map((value) => ({ value, label: TYPE_WORDS[value], detail: value }))}
          />
        </Field>
        <Field label="Sample body" className="w-full">
          <Textarea mono rows={4} value={body} onChange={(event) => setBody(event.target.value)} />
        </Field>
        <Button
          loading={trial.isPending}
          disabledReason={readOnly}
          onClick={() =>
            trial.mutate({
              id: routeId,
              environment: env,
              method: 'POST',
              path: '/',
              headers: [{ name: 'Content-Type', value: type }],
              body,
              dry_run: true,
            })
          }
        >
          Try actions
        </Button>
        {data?.refusal && (
          <Callout tone="warn" title="The call would be refused">
            {data.refusal.message}
          </Callout>
        )}
        {data?.request && !data.refusal && (
          <CodeBlock wrap snippets={[{ id: 'sent', label: 'Sent to the upstream', language: 'text', code: data.request.body }]} />
        )}
        <MutationError error={trial.error} />
      </div>
    </SectionCard>
  );
}
