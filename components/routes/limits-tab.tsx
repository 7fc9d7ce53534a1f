'use client';

import { Checkbox } from '#components/ui/choices.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { NumberInput, Setting } from './setting.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

/** What a limit begins with, so that turning it on can be saved as it is. */
const FIRST = { rate_limit_enabled: true, rate_limit_requests: 100, rate_limit_window_sec: 60 };

/** How many calls of one environment a route takes. */
export function LimitsTab({ editor }: { editor: ConfigEditor }) {
  const on = editor.value('rate_limit_enabled');
  const numbered = editor.value('rate_limit_requests') !== null || editor.value('rate_limit_window_sec') !== null;
  return (
    <SectionCard
      title="Rate limit"
      description="Calls over it are refused with 429 and never reach the upstream. Each environment counts for itself."
    >
      <div className="flex flex-col gap-5">
        <Setting editor={editor} field="rate_limit_enabled" label="Limit" group>
          {({ value, set, disabled }) => (
            <Checkbox
              checked={value}
              onCheckedChange={(next) => (next && !numbered ? editor.replace({ ...editor.draft, ...FIRST }) : set(next))}
              disabled={disabled}
              label="Limit how often the route may be called"
            />
          )}
        </Setting>
        <div className="grid gap-5 sm:grid-cols-3">
          <Setting
            editor={editor}
            field="rate_limit_requests"
            label="Calls"
            hint={on || !numbered ? undefined : 'Not counted while the limit is off.'}
          >
            {({ value, set, disabled }) => (
              <NumberInput value={value} onChange={set} disabled={disabled} min={1} max={1_000_000} suffix="calls" />
            )}
          </Setting>
          <Setting editor={editor} field="rate_limit_window_sec" label="Within">
            {({ value, set, disabled }) => (
              <NumberInput value={value} onChange={set} disabled={disabled} min={1} max={86_400} suffix="seconds" />
            )}
          </Setting>
          <Setting editor={editor} field="rate_limit_burst" label="Burst" hint="Short spikes up to this; empty means none.">
            {({ value, set, disabled }) => (
              <NumberInput value={value} onChange={set} disabled={disabled} min={1} max={10_000_000} placeholder="none" suffix="calls" />
            )}
          </Setting>
        </div>
        <Setting editor={editor} field="rate_limit_per_client" label="Per caller" group>
          {({ value, set, disabled }) => (
            <Checkbox
              checked={value}
              onCheckedChange={set}
              disabled={disabled}
              label="Count each caller as well"
              description="The same numbers again for each client or key, beside the shared count: one loud caller cannot use up everybody’s share."
            />
          )}
        </Setting>
      </div>
    </SectionCard>
  );
}
