'use client';

import { Checkbox } from '#components/ui/choices.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { NumberInput, Setting } from './setting.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

/** What a limit begins with, so that turning it on can be saved as it is. */
const FIRST = { rate_limit_enabled: true, rate_limit_requests: 100, rate_limit_window_sec: 60 };

/** How many calls a route accepts in one environment. */
export function RateLimitCard({ editor }: { editor: ConfigEditor }) {
  const on = editor.value('rate_limit_enabled');
  const numbered = editor.value('rate_limit_requests') !== null || editor.value('rate_limit_window_sec') !== null;
  return (
    <SectionCard title="Rate limit" description="Calls over the limit are refused with 429. Each environment has its own count.">
      <div className="flex flex-col gap-5">
        <Setting editor={editor} field="rate_limit_enabled" label="Limit" group>
          {({ value, set, disabled }) => (
            <Checkbox
              checked={value}
              onCheckedChange={(next) => (next && !numbered ? editor.replace({ ...editor.draft, ...FIRST }) : set(next))}
              disabled={disabled}
              label="Limit calls to this route"
            />
          )}
        </Setting>
        <div className="grid gap-5 sm:grid-cols-3">
          <Setting
            editor={editor}
            field="rate_limit_requests"
            label="Calls"
            hint={on || !numbered ? undefined : 'Applies when the limit is on.'}
          >
            {({ value, set, disabled }) => (
              <NumberInput value={value} onChange={set} disabled={disabled} min={1} max={1_000_000} suffix="calls" />
            )}
          </Setting>
          <Setting editor={editor} field="rate_limit_window_sec" label="Window">
            {({ value, set, disabled }) => (
              <NumberInput value={value} onChange={set} disabled={disabled} min={1} max={86_400} suffix="seconds" />
            )}
          </Setting>
          <Setting
            editor={editor}
            field="rate_limit_burst"
            label="Burst"
            hint="Extra calls allowed in a short spike. Leave empty for none."
          >
            {({ value, set, disabled }) => (
              <NumberInput value={value} onChange={set} disabled={disabled} min={1} max={10_000_000} placeholder="none" suffix="calls" />
            )}
          </Setting>
        </div>
        <Setting editor={editor} field="rate_limit_per_client" label="Per-caller limit" group>
          {({ value, set, disabled }) => (
            <Checkbox
              checked={value}
              onCheckedChange={set}
              disabled={disabled}
              label="Also limit each caller"
              description="Applies the same limit to each client or key, so one caller can’t use up the shared limit."
            />
          )}
        </Setting>
      </div>
    </SectionCard>
  );
}
