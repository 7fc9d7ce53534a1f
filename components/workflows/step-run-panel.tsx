'use client';

import { X } from 'lucide-react';
import { IconButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { type Json, JsonView } from '#components/ui/json-view.tsx';
import { Select } from '#components/ui/select.tsx';
import { Time } from '#components/ui/time.tsx';
import { type Document, stepOf } from './document.ts';
import { kindOf } from './step-kinds.ts';
import { STATUS, StatusIcon } from './step-mark.tsx';
import { failureOf, type StepRun, tookText } from './workflow-labels.ts';

type Props = {
  /** Of one step: one, or one per iteration. */
  runs: readonly StepRun[];
  doc: Document;
  id: string;
  /** The position of the chosen one among them. */
  iteration: number | null;
  onIteration: (iteration: number) => void;
  onClose: () => void;
};

/** What went into a step of a run, what came out, and what went wrong. */
export function StepRunPanel({ runs, doc, id, iteration, onIteration, onClose }: Props) {
  const step = stepOf(doc, id);
  const failed = runs.findIndex(({ status }) => status === 'failed');
  const at = Math.min(iteration ?? Math.max(0, failed), runs.length - 1);
  const run = runs[at];
  return (
    <aside aria-label={`Run of ${step?.name ?? id}`} className="flex min-h-0 w-full flex-col border-line-strong border-l bg-overlay">
      <div className="flex items-start gap-2 border-line border-b px-4 py-2.5">
        {run && <StatusIcon status={run.status} />}
        <div className="min-w-0 flex-1">
          <h2 className="truncate font-semibold">{step?.name || (step ? kindOf(step.type).label : id)}</h2>
          <p className="font-mono text-ink-3 text-xs">{id}</p>
        </div>
        <IconButton size="sm" label="Close" icon={<X />} onClick={onClose} />
      </div>
      <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto overscroll-contain px-4 py-3">
        {runs.length > 1 && (
          <Field label="Iteration">
            <Select
              value={at.toString()}
              onValueChange={(value) => onIteration(Number(value))}
              options={runs.map((one, index) => ({
                value: index.toString(),
                label: `${one.path || index + 1}: ${STATUS[one.status].label}`,
              }))}
            />
          </Field>
        )}
        {run ? <Told run={run} /> : <p className="text-ink-3">The run did not come to this step.</p>}
      </div>
    </aside>
  );
}

function Told({ run }: { run: StepRun }) {
  return (
    <>
      <p className="flex flex-wrap gap-x-3 text-ink-2 text-xs">
        <span>{STATUS[run.status].label}</span>
        <span className="figures">{tookText(run.duration_ms)}</span>
        {run.attempt > 1 && <span>Attempt {run.attempt}</span>}
        <Time value={run.started_at} format="datetime" empty="Not begun" />
      </p>
      {run.error_code && (
        <Callout tone="bad" title={run.error_message ?? failureOf(run.error_code)}>
          {failureOf(run.error_code)}
        </Callout>
      )}
      {run.truncated && (
        <Callout title="Too large to keep whole">What is longer than 256 KiB was cut. The run itself had all of it.</Callout>
      )}
      <Value title="Input" value={run.input} none="It took nothing in." />
      <Value title="Output" value={run.output} none={run.status === 'succeeded' ? 'It gave nothing.' : 'It gave nothing yet.'} />
    </>
  );
}

function Value({ title, value, none }: { title: string; value: unknown; none: string }) {
  return (
    <section className="flex flex-col gap-1.5">
      <h3 className="font-medium text-sm">{title}</h3>
      {value === undefined || value === null ? (
        <p className="text-ink-3 text-xs">{none}</p>
      ) : (
        <JsonView value={value as Json} label={title} depth={3} />
      )}
    </section>
  );
}
