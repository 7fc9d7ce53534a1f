'use client';

import { useState } from 'react';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { type Advice, adviceOf, type Purpose, type Where } from './advice.ts';
import { roleName } from './key-labels.ts';

type Props = { onAdvice: (advice: Advice) => void };

/** For whoever does not know the words yet: what for, from where, for how long. The answer fills in the form below. */
export function KeyAdvisor({ onAdvice }: Props) {
  const path = usePath();
  const { space } = useScope();
  const [purpose, setPurpose] = useState<Purpose>();
  const [where, setWhere] = useState<Where>();
  const [ends, setEnds] = useState<'yes' | 'no'>();
  const advice = purpose && where && ends && adviceOf(purpose, where, ends === 'yes', space);
  return (
    <details className="rounded-lg border border-line-strong bg-subtle">
      <summary className="cursor-pointer select-none rounded-lg px-3 py-2 text-ink-2 hover:text-ink">Help me choose</summary>
      <div className="flex flex-col gap-4 border-line-strong border-t p-3">
        <Field group label="What will use it?">
          <RadioCards
            value={purpose ?? ''}
            onValueChange={(value) => setPurpose(value as Purpose)}
            options={[
              { value: 'call', title: 'An application that calls my APIs through routes' },
              { value: 'build', title: 'A pipeline or tool that manages routes, secrets and clients' },
              { value: 'watch', title: 'A monitoring or reporting tool that only reads' },
            ]}
          />
        </Field>
        <Field group label="Where does it run?">
          <RadioCards
            columns={2}
            value={where ?? ''}
            onValueChange={(value) => setWhere(value as Where)}
            options={[
              { value: 'fixed', title: 'Fixed IP address', description: 'A server, an office or a NAT gateway.' },
              { value: 'anywhere', title: 'Anywhere', description: 'Laptops, hosted runners or serverless.' },
            ]}
          />
        </Field>
        <Field group label="Should it expire?">
          <RadioCards
            columns={2}
            value={ends ?? ''}
            onValueChange={(value) => setEnds(value as 'yes' | 'no')}
            options={[
              { value: 'no', title: 'No', description: 'It works until you revoke it.' },
              { value: 'yes', title: 'Yes', description: 'It stops working on a date.' },
            ]}
          />
        </Field>
        {advice && (
          <div role="status" className="flex flex-col gap-2">
            <p className="font-medium">
              {advice.title}: {advice.role_ids.map(roleName).join(' and ')}
            </p>
            <ul className="list-disc pl-4 text-ink-2">
              {advice.reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
            {purpose === 'call' && where === 'fixed' && (
              <p className="text-ink-2">
                You can also restrict a route to that IP address under{' '}
                <Link className={textLink} href={path('/clients')}>
                  Clients
                </Link>
                .
              </p>
            )}
            <Button size="sm" className="self-start" onClick={() => onAdvice(advice)}>
              Use these settings
            </Button>
          </div>
        )}
      </div>
    </details>
  );
}
