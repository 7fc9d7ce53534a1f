'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Select } from '#components/ui/select.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Detail } from './webhook-labels.ts';

const HOUR = 3_600_000;
const SPANS = { hour: HOUR, day: 24 * HOUR, week: 168 * HOUR, all: 336 * HOUR - 60_000 } as const;
type Span = keyof typeof SPANS;
const LABELS: Record<Span, string> = { hour: 'the last hour', day: 'the last 24 hours', week: 'the last 7 days', all: 'the last 14 days' };
const since = (span: Span) => new Date(Date.now() - SPANS[span]).toISOString();

/** Sends everything again that failed for good since a time. */
export function RecoverSince({ webhook }: { webhook: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('webhook:update');
  const [span, setSpan] = useState<Span>('day');
  const recover = useMutation(
    trpc.webhooks.recover.mutationOptions({
      onSuccess: ({ queued }) => {
        notifyDone(queued === 0 ? 'Nothing failed in that time' : `${counted(queued, 'delivery', 'deliveries')} queued again`);
        return queryClient.invalidateQueries(trpc.webhooks.pathFilter());
      },
    }),
  );
  return (
    <SectionCard title="Recover" description="Sends everything again that failed for good, each event once and the oldest first.">
      <div className="flex flex-col gap-4">
        <Field label="What failed in" error={recover.error ? refusalOf(recover.error).message : undefined}>
          <Select
            value={span}
            onValueChange={setSpan}
            options={(Object.keys(SPANS) as Span[]).map((value) => ({ value, label: LABELS[value] }))}
          />
        </Field>
        <div>
          <Button
            icon={<RotateCcw />}
            loading={recover.isPending}
            disabledReason={forbidden ?? (webhook.enabled ? undefined : 'Enable the webhook first')}
            onClick={() => recover.mutate({ id: webhook.id, since: since(span) })}
          >
            Deliver again
          </Button>
        </div>
        <ApiEquivalent method="POST" path={`/webhooks/${webhook.id}/recover`} body={{ since: since(span) }} />
      </div>
    </SectionCard>
  );
}
