'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { MultiCombobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { HOOK_FORMATS, HOOK_METHODS } from '#server/domain/workflows/hook-settings.shared.ts';
import { type Config, JsonRow, SelectRow, textOf, useConfig } from './config-rows.tsx';
import { ExpressionInput } from './expression-input.tsx';
import { cronText } from './trigger-text.ts';

const TYPES = [
  { value: 'manual', label: 'By hand or by the API' },
  { value: 'webhook', label: 'A request to its URL' },
  { value: 'schedule', label: 'A schedule' },
  { value: 'proxy_event', label: 'A call of a route' },
] as const;

const STARTS: Record<(typeof TYPES)[number]['value'], Config> = {
  manual: { triggerType: 'manual' },
  webhook: { triggerType: 'webhook', method: 'POST', mode: 'async', auth: { type: 'none' } },
  schedule: { triggerType: 'schedule', cron: '0 9 * * *', timezone: 'UTC', overlap: 'skip' },
  proxy_event: { triggerType: 'proxy_event', proxyEventConfig: { eventTypes: ['request.server_error'] } },
};

/** What starts the workflow. */
export function TriggerFields() {
  const { config, set, readOnly } = useConfig();
  const type = (config.triggerType ?? 'manual') as keyof typeof STARTS;
  const choose = (next: keyof typeof STARTS) => {
    const gone = Object.fromEntries(Object.keys(config).map((key) => [key, undefined]));
    set({ ...gone, ...STARTS[next] });
  };
  return (
    <>
      <Field label="Starts with">
        <Select value={type} options={TYPES} onValueChange={choose} disabled={readOnly} />
      </Field>
      {type === 'manual' && (
        <JsonRow name="inputSchema" label="Input" optional hint="A JSON Schema that the input of a run must satisfy." />
      )}
      {type === 'webhook' && <HookFields />}
      {type === 'schedule' && <ScheduleFields />}
      {type === 'proxy_event' && <EventFields />}
    </>
  );
}

function HookFields() {
  const { config, set, readOnly } = useConfig();
  const auth = (config.auth ?? { type: 'none' }) as { type?: string; name?: string; secret?: string; format?: string; header?: string };
  const put = (change: Partial<typeof auth>, group?: string) => set({ auth: { ...auth, ...change } }, group);
  return (
    <>
      <p className="text-ink-2 text-xs">Once it is published, its URL is on the tab Settings.</p>
      <SelectRow name="method" label="Method" options={HOOK_METHODS.map((value) => ({ value, label: value === 'any' ? 'Any' : value }))} />
      <SelectRow
        name="mode"
        label="The caller gets"
        options={[
          { value: 'async', label: 'The ID of the run, at once' },
          { value: 'sync', label: 'What the Response step says, within 25 s' },
        ]}
      />
      <Field label="Callers prove themselves by" hint="Without proof anyone who knows the URL can start it.">
        <Select
          value={(auth.type ?? 'none') as 'none' | 'header' | 'hmac'}
          disabled={readOnly}
          onValueChange={(type) => set({ auth: type === 'none' ? { type } : { type, secret: '' } })}
          options={[
            { value: 'none', label: 'The URL alone' },
            { value: 'header', label: 'A header with a secret' },
            { value: 'hmac', label: 'A signature (HMAC)' },
          ]}
        />
      </Field>
      {auth.type === 'header' && (
        <Field label="Header" required>
          <Input
            mono
            value={auth.name ?? ''}
            disabled={readOnly}
            placeholder="X-Api-Key"
            onChange={({ target }) => put({ name: target.value }, 'auth-name')}
          />
        </Field>
      )}
      {auth.type === 'hmac' && (
        <Field label="Signature">
          <Select
            value={(auth.format ?? 'legacy') as (typeof HOOK_FORMATS)[number]}
            disabled={readOnly}
            onValueChange={(format) => put({ format })}
            options={HOOK_FORMATS.map((value) => ({ value, label: FORMATS[value] }))}
          />
        </Field>
      )}
      {auth.type === 'hmac' && auth.format === 'custom' && (
        <Field label="Signature header" required>
          <Input
            mono
            value={auth.header ?? ''}
            disabled={readOnly}
            onChange={({ target }) => put({ header: target.value }, 'auth-header')}
          />
        </Field>
      )}
      {(auth.type === 'header' || auth.type === 'hmac') && (
        <Field label="Secret" required hint="Name one of your secrets: {{secret:NAME}}.">
          <ExpressionInput secrets value={auth.secret ?? ''} disabled={readOnly} onChange={(secret) => put({ secret }, 'auth-secret')} />
        </Field>
      )}
    </>
  );
}

const FORMATS: Record<(typeof HOOK_FORMATS)[number], string> = {
  legacy: 'Standard (X-Webhook-Signature)',
  stripe: 'Stripe',
  github: 'GitHub',
  slack: 'Slack',
  'aws-sns': 'AWS SNS',
  custom: 'Custom header',
};

function ScheduleFields() {
  const { config, set, readOnly } = useConfig();
  const minutes = (config.every as { minutes?: unknown } | undefined)?.minutes;
  const byCron = config.every === undefined;
  return (
    <>
      <Segmented
        label="Kind of schedule"
        value={byCron ? 'cron' : 'every'}
        onValueChange={(kind) =>
          readOnly || set(kind === 'cron' ? { every: undefined, cron: '0 9 * * *' } : { cron: undefined, every: { minutes: 60 } })
        }
        options={[
          { value: 'cron', label: 'At set times' },
          { value: 'every', label: 'Every so often' },
        ]}
      />
      {byCron ? (
        <Field label="Cron" required hint={`${cronText(textOf(config.cron))}. Minute, hour, day of the month, month, day of the week.`}>
          <Input mono value={textOf(config.cron)} disabled={readOnly} onChange={({ target }) => set({ cron: target.value }, 'cron')} />
        </Field>
      ) : (
        <Field label="Minutes" required>
          <Input
            inputMode="numeric"
            className="w-28"
            disabled={readOnly}
            value={textOf(minutes)}
            onChange={({ target: { value } }) => set({ every: { minutes: /^\d+$/.test(value) ? Number(value) : value } }, 'every')}
          />
        </Field>
      )}
      <Field label="Time zone" hint="Such as Europe/Berlin. Empty means UTC.">
        <Input
          list="workflow-zones"
          value={textOf(config.timezone)}
          disabled={readOnly}
          onChange={({ target }) => set({ timezone: target.value || undefined }, 'timezone')}
        />
        <datalist id="workflow-zones">
          {Intl.supportedValuesOf('timeZone').map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </Field>
      <SelectRow
        name="overlap"
        label="While the last run still runs"
        options={[
          { value: 'skip', label: 'Skip this time' },
          { value: 'queue', label: 'Run afterwards' },
        ]}
      />
    </>
  );
}

const EVENTS = {
  'request.server_error': 'Server error (5xx)',
  'request.client_error': 'Client error (4xx)',
  'request.timeout': 'Timeout',
  'request.error': 'Any failure',
  'request.success': 'Success (2xx)',
  'request.redirect': 'Redirect (3xx)',
  'request.received': 'Received, before it is forwarded',
  'request.completed': 'Completed, whatever came of it',
};

function EventFields() {
  const trpc = useTRPC();
  const { config, set, readOnly } = useConfig();
  const hidden = useForbidden('route:read');
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100 }, { enabled: !hidden }));
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const given = (config.proxyEventConfig ?? {}) as { eventTypes?: string[]; routeFilter?: string[]; environmentFilter?: string[] };
  const types = given.eventTypes ?? [];
  const put = (change: Partial<typeof given>) =>
    set({ proxyEventConfig: Object.fromEntries(Object.entries({ ...given, ...change }).filter(([, value]) => value !== undefined)) });
  return (
    <>
      <Field group label="When a call" required>
        {Object.entries(EVENTS).map(([type, label]) => (
          <Checkbox
            key={type}
            label={label}
            checked={types.includes(type)}
            disabled={readOnly}
            onCheckedChange={(on) => put({ eventTypes: on ? [...types, type] : types.filter((one) => one !== type) })}
          />
        ))}
      </Field>
      {(types.includes('request.completed') || types.includes('request.received')) && (
        <Callout tone="warn" title="This starts a run for every call">
          Each run uses operations of the month. Choose routes below, or a rarer event.
        </Callout>
      )}
      <Field label="Routes" optional hint="Leave empty for every route.">
        <MultiCombobox
          placeholder="Every route"
          disabled={readOnly || hidden !== undefined}
          options={(routes.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          values={given.routeFilter ?? []}
          onValuesChange={(ids) => put({ routeFilter: ids.length > 0 ? ids : undefined })}
        />
      </Field>
      <Field label="Environments" optional hint="Leave empty for all.">
        <MultiCombobox
          placeholder="All"
          disabled={readOnly}
          options={(environments.data?.data ?? []).map(({ name }) => ({ value: name, label: name }))}
          values={given.environmentFilter ?? []}
          onValuesChange={(names) => put({ environmentFilter: names.length > 0 ? names : undefined })}
        />
      </Field>
    </>
  );
}
