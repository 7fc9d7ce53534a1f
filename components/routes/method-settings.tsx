'use client';

import { Button } from '#components/ui/button.tsx';
import { BodyEditor } from './body-editor.tsx';
import { Setting } from './setting.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

type Entries = readonly Record<string, unknown>[];
const EXAMPLE = { POST: { timeout_ms: 60_000, rate_limit_enabled: true, rate_limit_requests: 10, rate_limit_window_sec: 60 } };

/** The entries of single methods, as the JSON object keyed by method that the API takes. */
export function MethodSettings({ editor }: { editor: ConfigEditor }) {
  const issues = Object.entries(editor.below('method_configs'));
  return (
    <Setting editor={editor} field="method_configs" label="Overrides (JSON)" group>
      {({ value, set, disabled }) => (
        <div className="flex flex-col gap-2">
          <BodyEditor
            label="Method overrides"
            rows={6}
            value={keyed(value ?? [])}
            onChange={(next) => set(entriesOf(next))}
            disabled={disabled}
            environment={editor.env}
          />
          {issues.map(([path, message]) => (
            <p key={path} role="alert" className="text-bad-ink text-xs">
              {path} {message}
            </p>
          ))}
          {(value ?? []).length === 0 && !disabled && (
            <Button size="sm" variant="ghost" className="self-start" onClick={() => set(entriesOf(EXAMPLE))}>
              Insert example
            </Button>
          )}
        </div>
      )}
    </Setting>
  );
}

const keyed = (entries: Entries): Record<string, unknown> =>
  Object.fromEntries(entries.map(({ method, ...entry }) => [String(method), entry]));

const entriesOf = (byMethod: Record<string, unknown>) =>
  Object.entries(byMethod).map(([method, entry]) => ({ ...(typeof entry === 'object' ? entry : {}), method: method.toUpperCase() }));
