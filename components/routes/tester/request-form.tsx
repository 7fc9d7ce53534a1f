'use client';

import { Plus, X } from 'lucide-react';
import { Button, IconButton } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { useFocusAfter } from '#components/ui/focus-after.ts';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { METHODS } from '#server/domain/routes/config/schema.ts';
import type { Trial } from './use-test-request.ts';

export type RequestFormProps = {
  trial: Trial;
  onChange: (trial: Trial) => void;
  /** Messages of the server by field. */
  problems: Readonly<Record<string, string>>;
};

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** The request as a caller would write it behind the route's name. */
export function RequestForm({ trial, onChange, problems }: RequestFormProps) {
  const change = (part: Partial<Trial>) => onChange({ ...trial, ...part });
  const { box, focusAfter } = useFocusAfter();
  const setHeader = (at: number, part: Partial<Trial['headers'][number]>) =>
    change({ headers: trial.headers.map((header, i) => (i === at ? { ...header, ...part } : header)) });
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-start gap-3">
        <Field label="Method" className="w-28">
          <Select
            label="Method"
            options={METHODS.map((method) => ({ value: method as string, label: method }))}
            value={trial.method}
            onValueChange={(method) => change({ method })}
          />
        </Field>
        <Field label="Path and query" className="min-w-48 flex-1" error={problems.path}>
          <Input mono value={trial.path} placeholder="/" onChange={(event) => change({ path: event.target.value })} />
        </Field>
      </div>
      <Field label="Headers" optional group error={problems.headers}>
        <div ref={box} className="flex flex-col gap-2">
          {trial.headers.map((header, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
            <div key={at} data-header={at} className="flex items-center gap-2">
              <Input
                mono
                aria-label={`Name of header ${(at + 1).toString()}`}
                placeholder="Content-Type"
                value={header.name}
                onChange={(event) => setHeader(at, { name: event.target.value })}
              />
              <Input
                mono
                aria-label={`Value of header ${(at + 1).toString()}`}
                value={header.value}
                onChange={(event) => setHeader(at, { value: event.target.value })}
              />
              <IconButton
                label={`Remove header ${(at + 1).toString()}`}
                icon={<X />}
                onClick={() => {
                  change({ headers: trial.headers.filter((_, i) => i !== at) });
                  focusAfter('[data-add]');
                }}
              />
            </div>
          ))}
          <Button
            data-add
            size="sm"
            icon={<Plus />}
            className="self-start"
            onClick={() => {
              change({ headers: [...trial.headers, { name: '', value: '' }] });
              focusAfter(`[data-header="${trial.headers.length.toString()}"] input`);
            }}
          >
            Add header
          </Button>
        </div>
      </Field>
      {WITH_BODY.has(trial.method) && (
        <Field label="Body" optional error={problems.body} hint="Sent as is. For JSON, add the header Content-Type: application/json.">
          <Textarea mono rows={5} value={trial.body} onChange={(event) => change({ body: event.target.value })} />
        </Field>
      )}
    </div>
  );
}
