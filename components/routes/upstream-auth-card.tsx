'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Select } from '#components/ui/select.tsx';
import { JWT_ALGORITHMS, type JwtAlgorithm, type UpstreamAuth } from '#server/domain/routes/config/upstream-auth.schema.ts';
import { BodyEditor } from './body-editor.tsx';
import { useSecretNames } from './secret-picker.tsx';
import { NumberInput, Setting } from './setting.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

type Aws = Extract<UpstreamAuth, { type: 'aws_sigv4' }>;
type Jwt = Extract<UpstreamAuth, { type: 'jwt_bearer' }>;
type Kind = UpstreamAuth['type'] | 'none';
type Part<T> = { value: T; set: (value: T) => void; disabled: boolean; editor: ConfigEditor };

const KINDS = [
  { value: 'none', label: 'None', detail: 'Headers and parameters above are enough' },
  { value: 'aws_sigv4', label: 'AWS Signature Version 4', detail: 'Signs each request with AWS credentials' },
  { value: 'jwt_bearer', label: 'JWT', detail: 'Sends a short-lived token, signed with your key' },
] as const;

const FIRST: Record<UpstreamAuth['type'], UpstreamAuth> = {
  aws_sigv4: { type: 'aws_sigv4', secret_id: '', region: 'us-east-1', service: '' },
  jwt_bearer: {
    type: 'jwt_bearer',
    algorithm: 'RS256',
    secret_id: '',
    ttl_seconds: 300,
    extra_claims: {},
    header_name: 'Authorization',
    value_prefix: 'Bearer ',
  },
};

/** How calls of one environment are signed for their upstream. */
export function UpstreamAuthCard({ editor }: { editor: ConfigEditor }) {
  return (
    <SectionCard
      title="Upstream authentication"
      description="Signs every call with a secret that never leaves the gateway. Runs after everything else that changes the call."
    >
      <Setting editor={editor} field="upstream_auth" label="Method" group>
        {({ value, set, disabled }) => (
          <div className="flex flex-col gap-5">
            <Select<Kind>
              label="Upstream authentication method"
              options={KINDS}
              value={kindOf(value)}
              // On an override, null would mean what the base has.
              onValueChange={(kind) => set(kind === 'none' ? (editor.isBase ? null : OFF) : FIRST[kind])}
              disabled={disabled}
              className="max-w-72"
            />
            {value?.type === 'aws_sigv4' && <AwsFields value={value} set={set} disabled={disabled} editor={editor} />}
            {value?.type === 'jwt_bearer' && <JwtFields value={value} set={set} disabled={disabled} editor={editor} />}
          </div>
        )}
      </Setting>
      <p className="mt-4 text-ink-3 text-xs">
        <Link href="/docs/upstream-authentication" className={textLink}>
          How upstream authentication works
        </Link>
      </p>
    </SectionCard>
  );
}

/** Written on an override that has none although the base has; answered as null. */
const OFF = { type: 'none' } as unknown as UpstreamAuth;
const kindOf = (value: UpstreamAuth | null): Kind => value?.type ?? 'none';

function AwsFields({ value, set, disabled, editor }: Part<Aws>) {
  const errors = editor.below('upstream_auth');
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <SecretField
        value={value.secret_id}
        onChange={(secret_id) => set({ ...value, secret_id })}
        disabled={disabled}
        environment={editor.env}
        error={errors.secret_id}
        hint='A secret with {"access_key_id": "…", "secret_access_key": "…"} and, if temporary, "session_token".'
      />
      <Field label="Region" error={errors.region}>
        <Input mono value={value.region} disabled={disabled} onChange={(event) => set({ ...value, region: event.target.value.trim() })} />
      </Field>
      <Field label="Service" error={errors.service} hint="As it appears in the credential scope, such as execute-api, s3 or bedrock.">
        <Input
          mono
          value={value.service}
          placeholder="execute-api"
          disabled={disabled}
          onChange={(event) => set({ ...value, service: event.target.value.trim() })}
        />
      </Field>
    </div>
  );
}

function JwtFields({ value, set, disabled, editor }: Part<Jwt>) {
  const errors = editor.below('upstream_auth');
  const text = (field: 'issuer' | 'subject' | 'audience', label: string, placeholder: string) => (
    <Field label={label} optional error={errors[field]}>
      <Input
        value={value[field] ?? ''}
        placeholder={placeholder}
        disabled={disabled}
        onChange={(event) => set(withText(value, field, event.target.value))}
      />
    </Field>
  );
  const usesKey = value.key_name !== undefined;
  return (
    <div className="flex flex-col gap-5">
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Signed with">
          <Select
            options={[
              { value: 'secret', label: 'A secret', detail: 'A shared key, or a private key in PEM or as a JWK' },
              { value: 'key', label: 'A crypto key', detail: 'Its private part can’t be read by anybody' },
            ]}
            value={usesKey ? 'key' : 'secret'}
            onValueChange={(by) =>
              set(by === 'key' ? { ...without(value, 'secret_id'), key_name: '' } : { ...without(value, 'key_name'), secret_id: '' })
            }
            disabled={disabled}
          />
        </Field>
        {usesKey ? (
          <Field label="Crypto key" error={errors.key_name} hint="Its name, of a type that signs JWTs.">
            <Input
              mono
              value={value.key_name ?? ''}
              disabled={disabled}
              onChange={(event) => set({ ...value, key_name: event.target.value })}
            />
          </Field>
        ) : (
          <SecretField
            value={value.secret_id ?? ''}
            onChange={(secret_id) => set({ ...value, secret_id })}
            disabled={disabled}
            environment={editor.env}
            error={errors.secret_id}
          />
        )}
        <Field label="Algorithm" error={errors.algorithm}>
          <Select<JwtAlgorithm>
            options={JWT_ALGORITHMS.map((one) => ({ value: one, label: one, ...(one === 'HS256' ? { detail: 'Shared key' } : {}) }))}
            value={value.algorithm}
            onValueChange={(algorithm) => set({ ...value, algorithm })}
            disabled={disabled}
          />
        </Field>
        <Field
          label="Lifetime"
          error={errors.ttl_seconds}
          hint="From 30 to 3,600 seconds. Tokens are reused until 30 seconds before they expire."
        >
          <NumberInput
            value={value.ttl_seconds}
            onChange={(seconds) => set({ ...value, ttl_seconds: seconds ?? 300 })}
            disabled={disabled}
            min={30}
            max={3_600}
            suffix="seconds"
          />
        </Field>
        {text('issuer', 'Issuer (iss)', 'my-service')}
        {text('subject', 'Subject (sub)', 'my-service')}
        {text('audience', 'Audience (aud)', 'https://api.partner.example')}
        <Field label="Header" error={errors.header_name}>
          <Input
            mono
            value={value.header_name}
            disabled={disabled}
            onChange={(event) => set({ ...value, header_name: event.target.value.trim() })}
          />
        </Field>
        <Field label="Prefix" optional error={errors.value_prefix} hint="Text in front of the token, with its space.">
          <Input
            mono
            value={value.value_prefix}
            disabled={disabled}
            onChange={(event) => set({ ...value, value_prefix: event.target.value })}
          />
        </Field>
      </div>
      <Field label="Further claims (JSON)" error={errors.extra_claims}>
        <BodyEditor
          label="Further claims"
          secrets={false}
          rows={3}
          value={value.extra_claims}
          onChange={(extra_claims) => set({ ...value, extra_claims: extra_claims as Jwt['extra_claims'] })}
          disabled={disabled}
          environment={editor.env}
        />
      </Field>
      {value.algorithm === 'HS256' && (
        <Callout tone="info" title="A shared key can also be used by the upstream to make tokens.">
          Prefer an algorithm with a private key if the upstream takes one.
        </Callout>
      )}
    </div>
  );
}

function without<K extends 'secret_id' | 'key_name'>(value: Jwt, field: K): Omit<Jwt, K> {
  const { [field]: _, ...rest } = value;
  return rest;
}

function withText(value: Jwt, field: 'issuer' | 'subject' | 'audience', text: string): Jwt {
  const { [field]: _, ...rest } = value;
  return text === '' ? rest : { ...rest, [field]: text };
}

type SecretFieldProps = {
  value: string;
  onChange: (id: string) => void;
  disabled: boolean;
  environment: string;
  error?: string | undefined;
  hint?: string;
};

function SecretField({ value, onChange, disabled, environment, error, hint }: SecretFieldProps) {
  const trpc = useTRPC();
  const [query, setQuery] = useState('');
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 50, secret_type: 'string', ...(query ? { q: query } : {}) }));
  const chosen = useSecretNames(value !== '', value === '' ? [] : [value]).get(value);
  const options = (secrets.data?.data ?? []).map(({ id, name, environment_names }) => ({
    value: id,
    label: name,
    detail: environment_names.includes(environment) ? `Value in ${environment_names.join(', ')}` : `No value in ${environment}`,
  }));
  if (chosen && !options.some((option) => option.value === value)) options.unshift({ value, label: chosen.name, detail: '' });
  const lacks = chosen && !chosen.environment_names.includes(environment);
  return (
    <Field
      label="Secret"
      required
      error={error}
      hint={lacks ? `${chosen.name} has no value in ${environment}: calls would be refused.` : hint}
    >
      <Combobox
        placeholder="Search secrets…"
        emptyText="No matching secrets."
        loading={secrets.isFetching}
        options={options}
        value={value || null}
        onQueryChange={setQuery}
        onValueChange={(id) => onChange(id ?? '')}
        disabled={disabled}
      />
    </Field>
  );
}
