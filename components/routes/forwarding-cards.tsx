'use client';

import { Checkbox } from '#components/ui/choices.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { NumberInput, Setting } from './setting.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

/** Where calls of one environment go, how long they may take, and how often they are retried. */
export function UpstreamCard({ editor }: { editor: ConfigEditor }) {
  return (
    <SectionCard title="Upstream">
      <div className="flex flex-col gap-5">
        <Setting
          editor={editor}
          field="target_base_url"
          label="Upstream URL"
          hint="An https URL. The path after the slug is appended. Host and path can use {{var:key}}."
        >
          {({ value, set, disabled }) => <Input mono value={value} disabled={disabled} onChange={(event) => set(event.target.value)} />}
        </Setting>
        <div className="grid gap-5 sm:grid-cols-2">
          <Setting
            editor={editor}
            field="timeout_ms"
            label="Timeout"
            hint="Time until the response headers arrive, from 100 to 120,000 ms."
          >
            {({ value, set, disabled }) => (
              <NumberInput value={value} onChange={(ms) => set(ms ?? 30_000)} disabled={disabled} min={100} max={120_000} suffix="ms" />
            )}
          </Setting>
          <Setting
            editor={editor}
            field="retry_attempts"
            label="Retries"
            hint="Retries idempotent calls after a lost connection, 502, 503 or 504."
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
          <Setting editor={editor} field="upstream_protocol" label="Protocol" hint="gRPC always uses HTTP/2, WebSockets HTTP/1.1.">
            {({ value, set, disabled }) => (
              <Select
                options={[
                  { value: 'http1', label: 'HTTP/1.1' },
                  { value: 'http2', label: 'HTTP/2', detail: 'The upstream must offer it' },
                ]}
                value={value}
                onValueChange={set}
                disabled={disabled}
                className="max-w-56"
              />
            )}
          </Setting>
          <Setting
            editor={editor}
            field="circuit_breaker_failures"
            label="Circuit breaker"
            hint="Failures in a row until calls are paused. 0 turns it off."
          >
            {({ value, set, disabled }) => (
              <NumberInput value={value} onChange={(count) => set(count ?? 0)} disabled={disabled} min={0} max={100} suffix="failures" />
            )}
          </Setting>
          <Setting
            editor={editor}
            field="circuit_breaker_open_sec"
            label="Pause"
            hint="Time until one call tries the upstream again, from 1 to 600 s."
          >
            {({ value, set, disabled }) => (
              <NumberInput value={value} onChange={(seconds) => set(seconds ?? 30)} disabled={disabled} min={1} max={600} suffix="s" />
            )}
          </Setting>
        </div>
      </div>
    </SectionCard>
  );
}

/** What the upstream learns of the caller, and whether callers may use secrets in their bodies. */
export function ForwardingCard({ editor }: { editor: ConfigEditor }) {
  return (
    <SectionCard title="Forwarding">
      <div className="flex flex-col gap-5">
        <Setting editor={editor} field="forward_client_ip" label="Caller IP address" group>
          {({ value, set, disabled }) => (
            <Checkbox
              checked={value}
              onCheckedChange={set}
              disabled={disabled}
              label="Send as X-Forwarded-For"
              description="When off, the upstream sees only the gateway’s IP address."
            />
          )}
        </Setting>
        <Setting
          editor={editor}
          field="body_placeholders"
          label="Placeholders in request bodies"
          hint="Lets callers use {{secret:NAME}} in POST, PUT and PATCH bodies. Headers and URLs are never replaced."
        >
          {({ value, set, disabled }) => (
            <Select
              options={[
                { value: 'off', label: 'Off', detail: 'Bodies are forwarded unchanged' },
                {
                  value: 'same_collection',
                  label: 'Same collection',
                  detail: 'Secrets in this route’s collection or in none',
                },
                { value: 'all', label: 'All', detail: 'Any secret. An upstream that echoes requests can expose them to callers.' },
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
  );
}
