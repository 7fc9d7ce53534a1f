'use client';

import { useMutation } from '@tanstack/react-query';
import { LineChart } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { AsTableButton, ChartTable } from '#components/ui/chart-parts.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Time } from '#components/ui/time.tsx';
import { AlertValues, conditionOf, listOf } from './alert-values.ts';
import { lasted, type PreviewAnswer, valueText } from './labels.ts';
import { ThresholdLine } from './threshold-line.tsx';

/** What the alert in the form would have done in the last seven days. */
export function AlertPreview({ values }: { values: AlertValues }) {
  const trpc = useTRPC();
  const preview = useMutation(trpc.alerts.previewDraft.mutationOptions());
  const valid = AlertValues.safeParse({ ...values, name: values.name || 'x' }).success;
  const ask = () =>
    preview.mutate({
      ...{ type: values.type, condition: conditionOf(values) as never },
      ...{ route_ids: values.route_ids, environments: listOf(values.environments) },
    });
  return (
    <section aria-label="Preview" className="flex flex-col gap-3 rounded-lg border border-line-strong p-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-semibold">Last seven days</h3>
        <Button
          size="sm"
          icon={<LineChart />}
          loading={preview.isPending}
          disabledReason={valid ? undefined : 'Correct the condition first'}
          onClick={ask}
        >
          {preview.data ? 'Preview again' : 'Preview'}
        </Button>
      </div>
      <MutationError error={preview.error} />
      {preview.data ? <Answer answer={preview.data} /> : <p className="text-ink-2">See how often it would have fired.</p>}
    </section>
  );
}

function Answer({ answer }: { answer: PreviewAnswer }) {
  const [asTable, setAsTable] = useState(false);
  const { supported, fired, incidents, points, threshold, unit, holds_now } = answer;
  const now = holds_now.length === 0 ? 'It does not hold now.' : `It holds now for ${counted(holds_now.length, 'subject')}.`;
  if (!supported) return <p aria-live="polite">The past of this kind is not kept, so only the present can be shown. {now}</p>;
  return (
    <div className="flex flex-col gap-2" aria-live="polite">
      <p>
        It would have fired <b>{fired === 1 ? 'once' : `${fired} times`}</b>. {now}
      </p>
      <figure className="flex flex-col gap-1">
        <figcaption className="flex items-center justify-between text-ink-2 text-xs">
          <span>
            Dashed: threshold of {valueText(threshold, unit)}. One point covers {counted(answer.step_minutes, 'minute')}.
          </span>
          <AsTableButton pressed={asTable} onChange={setAsTable} className="size-6" />
        </figcaption>
        {asTable ? (
          <ChartTable
            caption="Highest value by time"
            corner="From (UTC)"
            columns={[unit]}
            rows={points.map(({ at, value }) => ({ key: at, name: at.slice(0, 16).replace('T', ' '), values: [value ?? 0] }))}
          />
        ) : (
          <ThresholdLine
            className="h-24 w-full"
            width={560}
            height={96}
            values={points.map(({ value }) => value)}
            threshold={threshold}
            label={`Last seven days, at most ${valueText(Math.max(0, ...points.map(({ value }) => value ?? 0)), unit)}, threshold ${valueText(threshold, unit)}`}
          />
        )}
      </figure>
      {incidents.length > 0 && (
        <ul className="flex flex-col gap-1 text-xs">
          {incidents.slice(-5).map((one) => (
            <li key={`${one.route_id} ${one.subject} ${one.started_at}`} className="flex flex-wrap gap-x-2">
              <Time value={one.started_at} format="datetime" />
              <span>
                {one.subject ? `${one.subject}: ` : ''}
                {valueText(one.peak, unit)} at most, {lasted(one.started_at, one.resolved_at, Date.now())}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
