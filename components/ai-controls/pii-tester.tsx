'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { ACTION_LABELS, ACTION_TONES } from './labels.ts';
import { MarkedText } from './marked-text.tsx';

const NONE = 'none';
const EXAMPLE = 'Email jane@example.com about card 4111 1111 1111 1111. Her SSN is 123-45-6789.';

/** What a policy finds in a text, and what a provider would get. */
export function PiiTester() {
  const trpc = useTRPC();
  const [text, setText] = useState(EXAMPLE);
  const [policy, setPolicy] = useState<string>(NONE);
  const policies = useQuery(trpc.aiControls.piiPolicies.queryOptions({ per_page: 100, sort: 'name', order: 'asc' }));
  const run = useMutation(trpc.aiControls.testPiiPolicy.mutationOptions({ gcTime: 0 }));
  const input = { text, ...(policy === NONE ? {} : { policy_id: policy }) };
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <SectionCard title="Request">
        <div className="flex flex-col gap-4">
          <Field label="Policy">
            <Select
              options={[
                { value: NONE, label: 'No policy' },
                ...(policies.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
              ]}
              value={policy}
              onValueChange={setPolicy}
            />
          </Field>
          <Field label="Text" hint="The text is neither stored nor logged.">
            <Textarea rows={8} value={text} maxLength={20_000} onChange={(event) => setText(event.target.value)} />
          </Field>
          <div>
            <Button
              variant="primary"
              loading={run.isPending}
              disabledReason={text === '' ? 'Enter a text first' : undefined}
              onClick={() => run.mutate(input)}
            >
              Test
            </Button>
          </div>
          <MutationError error={run.error} />
          <ApiEquivalent method="POST" path="/ai-gateway/pii-policies/test" body={input} />
        </div>
      </SectionCard>
      <SectionCard title="What happens">
        <div aria-live="polite" className="flex flex-col gap-4">
          {!run.data && <p className="text-ink-2">Run the test to see what is found.</p>}
          {run.data && (
            <>
              <div className="flex flex-col gap-1.5">
                <h3 className="font-medium text-sm">Found</h3>
                <MarkedText
                  text={run.variables?.text ?? ''}
                  marks={run.data.matches.map(({ span, entity_type, action }) => {
                    const tone = ACTION_TONES[action];
                    return { span, title: entity_type, tone: tone === 'bad' || tone === 'accent' || tone === 'warn' ? tone : 'neutral' };
                  })}
                />
              </div>
              <div className="flex flex-col gap-1.5">
                <h3 className="font-medium text-sm">Sent to the provider</h3>
                <MarkedText text={run.data.result} marks={[]} />
              </div>
              {run.data.matches.length > 0 && (
                <ul className="flex flex-col gap-1.5">
                  {run.data.matches.map(({ span, entity_type, action, replacement }) => (
                    <li key={span[0]} className="flex flex-wrap items-center gap-2">
                      <Badge mono>{entity_type}</Badge>
                      <Badge tone={ACTION_TONES[action]}>{ACTION_LABELS[action]}</Badge>
                      <span className="font-mono text-xs [overflow-wrap:anywhere]">{replacement}</span>
                    </li>
                  ))}
                </ul>
              )}
            </>
          )}
        </div>
      </SectionCard>
    </div>
  );
}
