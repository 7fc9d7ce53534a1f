'use client';

import { Checkbox } from '#components/ui/choices.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { NumberInput, Setting } from './setting.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

/** How long the upstream may take in one environment, how often it is asked again, and what it sees of the caller. */
export function UpstreamTab({ editor }: { editor: ConfigEditor }) {
  return (
    <>
      <SectionCard title="Time and retries">
        <div className="grid gap-5 sm:grid-cols-2">
          <Setting
            editor={editor}
            field="timeout_ms"
            label="Timeout"
            hint="From the first byte sent to the answer’s head. Between 100 and 120,000."
          >
            {({ value, set, disabled }) => (
              <NumberInput value={value} onChange={(ms) => set(ms ?? 30_000)} disabled={disabled} min={100} max={120_000} suffix="ms" />
            )}
          </Setting>
          <Setting
            editor={editor}
            field="retry_attempts"
            label="Retries"
            hint="Only for calls that are safe to repeat, after a lost connection or 502, 503, 504."
          >
            {({ value, set, disabled }) => (
              <Select
                options={['0', '1', '2', '3'].map((n) => ({ value: n, label: n === '0' ? 'None' : n }))}
                value={value.toString()}
                onValueChange={(n) => set(Number(n))}
                disabled={disabled}
                className="max-w-56"
              />
            )}
          </Setting>
        </div>
      </SectionCard>
      <SectionCard title="What the upstream sees">
        <div className="flex flex-col gap-5">
          <Setting editor={editor} field="forward_client_ip" label="Caller’s address" group>
            {({ value, set, disabled }) => (
              <Checkbox
                checked={value}
                onCheckedChange={set}
                disabled={disabled}
                label="Send it as X-Forwarded-For"
                description="Otherwise the upstream sees only the gateway’s address."
              />
            )}
          </Setting>
          <Setting
            editor={editor}
            field="body_placeholders"
            label="Placeholders in the caller’s body"
            hint="{{secret:NAME}} that callers write into a body of POST, PUT or PATCH. Their headers and URLs are never filled in."
          >
            {({ value, set, disabled }) => (
              <Select
                options={[
                  { value: 'off', label: 'Off', detail: 'Braces pass untouched.' },
                  {
                    value: 'same_collection',
                    label: 'Same collection',
                    detail: 'Secrets of this route’s collection, and those without one.',
                  },
                  { value: 'all', label: 'All', detail: 'Any secret of this space. An echoing upstream could show them to the caller.' },
                ]}
                value={value}
                onValueChange={set}
                disabled={disabled}
                className="max-w-72"
              />
            )}
          </Setting>
        </div>
      </SectionCard>
    </>
  );
}
