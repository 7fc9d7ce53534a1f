'use client';

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { CheckRow, JsonRow, NumberRow, PairsRow, SelectRow, TextRow, textOf, useConfig } from './config-rows.tsx';
import { ExpressionInput } from './expression-input.tsx';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'].map((value) => ({ value, label: value }));

const AUTHS = [
  { value: 'none', label: 'None' },
  { value: 'bearer', label: 'Bearer token' },
  { value: 'basic', label: 'Basic' },
  { value: 'header', label: 'Header' },
] as const;
const AUTH_PARTS = {
  none: [],
  bearer: [['token', 'Token']],
  basic: [
    ['username', 'User name'],
    ['password', 'Password'],
  ],
  header: [
    ['name', 'Header'],
    ['value', 'Value'],
  ],
} as const;

function AuthFields() {
  const { config, set, readOnly } = useConfig();
  const auth = (config.auth ?? { type: 'none' }) as Record<string, string>;
  const type = (auth.type ?? 'none') as keyof typeof AUTH_PARTS;
  return (
    <>
      <Field label="Authentication">
        <Select
          value={type}
          options={AUTHS}
          disabled={readOnly}
          onValueChange={(next) => set({ auth: next === 'none' ? undefined : { type: next } })}
        />
      </Field>
      {AUTH_PARTS[type]?.map(([part, label]) => (
        <Field key={part} label={label} required {...(part === 'name' ? {} : { hint: 'Name a secret: {{secret:NAME}}.' })}>
          <ExpressionInput
            secrets
            value={auth[part] ?? ''}
            disabled={readOnly}
            onChange={(value) => set({ auth: { ...auth, [part]: value } }, `auth-${part}`)}
          />
        </Field>
      ))}
    </>
  );
}

export function HttpFields() {
  return (
    <>
      <SelectRow name="method" label="Method" options={METHODS} />
      <TextRow
        name="url"
        label="URL"
        required
        placeholder="https://api.example.com/items"
        hint="No secrets here: put them into a header, the query or the body."
      />
      <AuthFields />
      <PairsRow name="headers" label="Headers" noun="header" secrets />
      <PairsRow name="query" label="Query" noun="parameter" secrets />
      <BodyFields typed />
      <More>
        <NumberRow name="timeoutMs" label="Timeout in milliseconds" placeholder="30000" hint="1,000 to 60,000." />
        <CheckRow name="followRedirects" label="Follow redirects" />
        <CheckRow name="failOnStatus" label="Fail on a status of 400 or more" fallback />
        <RetryFields />
      </More>
    </>
  );
}

export function RouteFields() {
  const trpc = useTRPC();
  const { config, set, readOnly } = useConfig();
  const hidden = useForbidden('route:read');
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100 }, { enabled: !hidden }));
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const options = (routes.data?.data ?? []).map(({ id, slug, name }) => ({ value: slug ?? id, label: name }));
  const chosen = textOf(config.route);
  const known = chosen === '' || options.some(({ value }) => value === chosen);
  return (
    <>
      <Field label="Route" required hint="Its secrets are added on the way.">
        <Combobox
          placeholder="Choose a route"
          disabled={readOnly}
          options={known ? options : [{ value: chosen, label: chosen }, ...options]}
          value={chosen || null}
          onValueChange={(route) => set({ route: route ?? '' })}
        />
      </Field>
      <Field label="Environment" optional>
        <Select
          value={textOf(config.environment)}
          disabled={readOnly}
          onValueChange={(environment) => set({ environment: environment || undefined })}
          options={[
            { value: '', label: 'That of the workflow' },
            ...(environments.data?.data ?? []).map(({ name }) => ({ value: name, label: name })),
          ]}
        />
      </Field>
      <SelectRow name="method" label="Method" options={METHODS} />
      <TextRow name="path" label="Path" required placeholder="/v1/items/{{trigger.data.id}}" />
      <PairsRow name="query" label="Query" noun="parameter" />
      <PairsRow name="headers" label="Headers" noun="header" />
      <BodyFields />
      <More>
        <NumberRow name="timeoutMs" label="Timeout in milliseconds" placeholder="30000" hint="1,000 to 60,000." />
        <RetryFields />
      </More>
    </>
  );
}

function BodyFields({ typed }: { typed?: boolean }) {
  const { config, set } = useConfig();
  if (config.method === 'GET' || config.method === 'HEAD') return null;
  const type = typed ? (config.bodyType ?? 'json') : 'json';
  return (
    <>
      {typed && (
        <SelectRow
          name="bodyType"
          label="Body"
          options={[
            { value: 'json', label: 'JSON' },
            { value: 'form', label: 'Form' },
            { value: 'text', label: 'Text' },
            { value: 'none', label: 'None' },
          ]}
        />
      )}
      {type === 'json' && typeof config.body !== 'string' && <JsonRow name="body" label={typed ? 'JSON' : 'Body'} optional />}
      {type === 'json' && typeof config.body === 'string' && (
        <TextRow name="body" label={typed ? 'JSON' : 'Body'} tall secrets={typed ?? false} optional />
      )}
      {type === 'form' && <PairsRow name="body" label="Fields" noun="field" secrets />}
      {type === 'text' && <TextRow name="body" label="Text" tall secrets />}
      {type === 'json' && (
        <div className="-mt-2">
          <Button size="sm" variant="ghost" onClick={() => set({ body: typeof config.body === 'string' ? {} : '' })}>
            {typeof config.body === 'string' ? 'Write it as JSON' : 'Use one expression instead'}
          </Button>
        </div>
      )}
    </>
  );
}

const RETRIED = { timeout: 'Timeout', network: 'No connection', '5xx': 'Status 5xx', '429': 'Status 429' };

function RetryFields() {
  const { config, set, readOnly } = useConfig();
  const retry = (config.retry ?? {}) as { attempts?: number; delayMs?: number; factor?: number; on?: string[] };
  const on = retry.on ?? Object.keys(RETRIED);
  const put = (change: Partial<typeof retry>, group?: string) => set({ retry: { ...retry, ...change } }, group);
  const number = (key: 'attempts' | 'delayMs' | 'factor', label: string, placeholder: string) => (
    <Field label={label}>
      <Input
        inputMode="numeric"
        disabled={readOnly}
        placeholder={placeholder}
        value={textOf(retry[key])}
        onChange={({ target: { value } }) => put({ [key]: value === '' ? undefined : Number(value) || 0 }, key)}
      />
    </Field>
  );
  return (
    <>
      <div className="grid grid-cols-3 gap-2">
        {number('attempts', 'Retries', '0')}
        {number('delayMs', 'After (ms)', '1000')}
        {number('factor', 'Factor', '2')}
      </div>
      {(retry.attempts ?? 0) > 0 && (
        <Field group label="Try again after">
          {Object.entries(RETRIED).map(([value, label]) => (
            <Checkbox
              key={value}
              label={label}
              disabled={readOnly}
              checked={on.includes(value)}
              onCheckedChange={(next) => put({ on: next ? [...on, value] : on.filter((one) => one !== value) })}
            />
          ))}
        </Field>
      )}
    </>
  );
}

export const More = ({ children }: { children: ReactNode }) => (
  <details className="rounded-lg border border-line-strong px-3 py-2">
    <summary className="cursor-pointer text-ink-2">More settings</summary>
    <div className="mt-3 flex flex-col gap-4 pb-1">{children}</div>
  </details>
);
