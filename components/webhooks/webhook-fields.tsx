'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox, RadioCards } from '#components/ui/choices.tsx';
import { MultiCombobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { fieldError, type ZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { EVENT_TYPE_NAMES, EVENT_TYPES } from '#server/domain/events/catalogue.shared.ts';
import { AUTH_TYPES, HMAC_FORMATS, METHODS } from '#server/domain/webhooks/options.shared.ts';
import type { Values } from './form-values.ts';
import { AUTH, FORMATS, hostOf } from './webhook-labels.ts';

type Props = { form: ZodForm<Values, Values> /** It exists: credentials and headers stay as they are unless typed. */; kept?: boolean };

const CHAT = [
  ['hooks.slack.com', 'Slack'],
  ['discord.com', 'Discord'],
  ['webhook.office.com', 'Teams'],
] as const;

/** The fields of a webhook, for making and editing one. */
export function WebhookFields({ form, kept = false }: Props) {
  const values = form.watch();
  const chat = CHAT.find(([host]) => hostOf(values.url).endsWith(host))?.[1];
  const calls = values.event_types.some((type) => type.startsWith('request.'));
  const set = <K extends keyof Values>(field: K, value: Values[K]) =>
    form.setValue(field as never, value as never, { shouldDirty: true, shouldValidate: form.formState.isSubmitted });
  return (
    <>
      <Field label="Name" required error={fieldError(form, 'name')} hint="Receivers see it in every envelope.">
        <Input placeholder="Order alerts" autoComplete="off" {...form.register('name')} />
      </Field>
      <Field label="URL" required error={fieldError(form, 'url')} hint="An https address that the internet can reach.">
        <Input mono placeholder="https://example.com/hooks" autoComplete="off" spellCheck={false} {...form.register('url')} />
      </Field>
      {chat && (
        <Callout title={`This looks like ${chat}`}>
          {chat} expects messages of its own shape. Put a small service in between that turns events into them.
        </Callout>
      )}
      <Field
        label="Events"
        required
        error={fieldError(form, 'event_types')}
        hint={values.event_types.length === 1 ? values.event_types.map((type) => EVENT_TYPES[type]) : undefined}
      >
        <MultiCombobox
          placeholder="Add an event…"
          options={EVENT_TYPE_NAMES.map((type) => ({ value: type, label: type, description: EVENT_TYPES[type] }))}
          values={values.event_types}
          onValuesChange={(types) => set('event_types', types as Values['event_types'])}
        />
      </Field>
      {calls && <CallOptions form={form} set={set} />}
      {values.event_types.includes('audit.event') && (
        <Field
          label="Audit entries"
          optional
          error={fieldError(form, 'audit')}
          hint="Patterns of resource type and action, such as secret.* or *.delete. Leave empty for all."
        >
          <Input mono placeholder="secret.*, api_key.*" {...form.register('audit')} />
        </Field>
      )}
      <Field group label="Authentication" hint="Every request is signed as well. Values can name secrets as {{secret:NAME}}.">
        <RadioCards
          columns={3}
          value={values.auth_type}
          onValueChange={(type) => set('auth_type', type)}
          options={AUTH_TYPES.map((type) => ({ value: type, title: AUTH[type] }))}
        />
      </Field>
      <AuthFields form={form} kept={kept} />
      <Field
        label="Headers"
        optional
        error={fieldError(form, 'request_headers')}
        hint={
          kept
            ? 'What you type replaces all headers that are set. Leave empty to keep them. To send them to another host, type them again or confirm it’s you.'
            : 'One per line. They are never shown again.'
        }
      >
        <Textarea mono rows={2} placeholder="X-Team: payments" {...form.register('request_headers')} />
      </Field>
      <SigningFields form={form} set={set} />
      <Delivery form={form} set={set} />
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Textarea rows={2} {...form.register('description')} />
      </Field>
    </>
  );
}

type Set = <K extends keyof Values>(field: K, value: Values[K]) => void;

function CallOptions({ form, set }: { form: Props['form']; set: Set }) {
  const trpc = useTRPC();
  const hidden = useForbidden('route:read');
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100 }, { enabled: !hidden }));
  const values = form.watch();
  return (
    <>
      <Field label="Routes" optional hint="Leave empty for every route.">
        <MultiCombobox
          placeholder="Every route"
          disabled={hidden !== undefined}
          options={(routes.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          values={values.route_filter}
          onValuesChange={(ids) => set('route_filter', ids)}
        />
      </Field>
      <Field label="Status codes" optional error={fieldError(form, 'status_codes')} hint="Such as 5xx, 429. Leave empty for every status.">
        <Input mono {...form.register('status_codes')} />
      </Field>
      <Field label="Methods" optional error={fieldError(form, 'methods')} hint="Such as POST, DELETE. Leave empty for every method.">
        <Input mono {...form.register('methods')} />
      </Field>
      <Field
        label="Environments"
        optional
        error={fieldError(form, 'environments')}
        hint="Names, such as production. Leave empty for every environment."
      >
        <Input mono {...form.register('environments')} />
      </Field>
      <Field group label="Of calls, send also" hint="Owners and Admins can turn these on, and confirm it’s them.">
        <Checkbox label="Request body" checked={values.include_request_body} onCheckedChange={(on) => set('include_request_body', on)} />
        <Checkbox label="Response body" checked={values.include_response_body} onCheckedChange={(on) => set('include_response_body', on)} />
        <Checkbox
          label="Headers"
          description="Credentials are redacted."
          checked={values.include_headers}
          onCheckedChange={(on) => set('include_headers', on)}
        />
      </Field>
    </>
  );
}

function AuthFields({ form, kept }: Props) {
  const type = form.watch('auth_type');
  const hint = kept ? 'Leave empty to keep what is set. To send it to another host, confirm it’s you.' : undefined;
  if (type === 'basic')
    return (
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="User name" error={fieldError(form, 'username')} hint={hint}>
          <Input autoComplete="off" {...form.register('username')} />
        </Field>
        <Field label="Password" error={fieldError(form, 'password')}>
          <Input type="password" autoComplete="new-password" {...form.register('password')} />
        </Field>
      </div>
    );
  if (type === 'bearer')
    return (
      <Field label="Token" error={fieldError(form, 'token')} hint={hint}>
        <Input type="password" autoComplete="new-password" {...form.register('token')} />
      </Field>
    );
  if (type === 'header')
    return (
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Header" error={fieldError(form, 'header_name')} hint={hint}>
          <Input mono placeholder="X-Api-Key" autoComplete="off" {...form.register('header_name')} />
        </Field>
        <Field label="Value" error={fieldError(form, 'header_value')}>
          <Input type="password" autoComplete="new-password" {...form.register('header_value')} />
        </Field>
      </div>
    );
  if (type === 'hmac')
    return (
      <Field
        label="Signing secret"
        optional
        error={fieldError(form, 'secret')}
        hint={kept ? 'Leave empty to keep what is set.' : '24 to 256 characters. Leave empty to have one made.'}
      >
        <Input type="password" autoComplete="new-password" {...form.register('secret')} />
      </Field>
    );
  return null;
}

function SigningFields({ form, set }: { form: Props['form']; set: Set }) {
  const trpc = useTRPC();
  const hidden = useForbidden('transit:read');
  const keys = useQuery(trpc.cryptoKeys.list.queryOptions({}, { enabled: !hidden }));
  const values = form.watch();
  const usable = (keys.data?.data ?? []).filter(({ key_type, managed_by }) => key_type === 'hmac-sha256' && managed_by === 'tenant');
  return (
    <>
      <Field label="Signature" hint={FORMATS[values.hmac_format].about}>
        <Select
          value={values.hmac_format}
          onValueChange={(format) => set('hmac_format', format)}
          options={HMAC_FORMATS.map((format) => ({ value: format, label: FORMATS[format].label }))}
        />
      </Field>
      {values.hmac_format === 'custom' && (
        <Field label="Signature header" required error={fieldError(form, 'hmac_header_name')}>
          <Input mono placeholder="X-Acme-Signature" {...form.register('hmac_header_name')} />
        </Field>
      )}
      {(usable.length > 0 || values.hmac_key_id !== '') && (
        <Field label="Signed with" hint="A crypto key signs instead of a secret of the webhook’s own.">
          <Select
            value={values.hmac_key_id}
            onValueChange={(id) => set('hmac_key_id', id)}
            options={[{ value: '', label: 'The webhook’s own secret' }, ...usable.map(({ id, name }) => ({ value: id, label: name }))]}
          />
        </Field>
      )}
    </>
  );
}

function Delivery({ form, set }: { form: Props['form']; set: Set }) {
  const values = form.watch();
  return (
    <details className="rounded-lg border border-line-strong px-3 py-2">
      <summary className="cursor-pointer text-ink-2">Delivery</summary>
      <div className="mt-3 flex flex-col gap-4 pb-1">
        <Field label="Method" hint={values.method === 'GET' ? 'The envelope is in the query, as base64url.' : undefined}>
          <Select
            value={values.method}
            onValueChange={(method) => set('method', method)}
            options={METHODS.map((method) => ({ value: method, label: method }))}
          />
        </Field>
        <Field label="Timeout in seconds" error={fieldError(form, 'timeout_seconds')}>
          <Input inputMode="numeric" className="w-28" {...form.register('timeout_seconds')} />
        </Field>
        <Checkbox
          label="Try again when a delivery fails"
          checked={values.retry_on_failure}
          onCheckedChange={(on) => set('retry_on_failure', on)}
        />
        {values.retry_on_failure && (
          <Field
            label="Retries"
            error={fieldError(form, 'max_retries')}
            hint="After 10 seconds, 1, 5 and 30 minutes, then hours. 3 take about 6 minutes."
          >
            <Input inputMode="numeric" className="w-28" {...form.register('max_retries')} />
          </Field>
        )}
      </div>
    </details>
  );
}
