'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { KEY_TYPES, WEBHOOK_FORMATS, type WebhookFormat } from '#server/domain/crypto-keys/key-types.shared.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { type Detail, nameInPath } from './key-labels.ts';
import { Result, TryForm, useText } from './try-form.tsx';

const LIFETIMES = [
  { value: '300', label: '5 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '', label: 'No expiry' },
];

/** The object that a text is the JSON of, or undefined. */
function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseExact(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export function TryJwt({ crypto }: { crypto: Detail }) {
  const trpc = useTRPC();
  const forbidden = useForbidden('transit:sign');
  const { jwt, kind } = KEY_TYPES[crypto.key_type];
  const [text, textField] = useText('{\n  "sub": "user_1"\n}');
  const [ttl, setTtl] = useState('3600');
  const [alg, setAlg] = useState<string>();
  const sign = useMutation(trpc.cryptoKeys.jwt.mutationOptions({ gcTime: 0 }));
  const claims = objectIn(text);
  const options = {
    ...(ttl === '' ? {} : { ttl_seconds: Number(ttl) }),
    ...(alg === undefined || alg === jwt[0] ? {} : { header_overrides: { alg } }),
  };
  return (
    <TryForm
      label="Sign JWT"
      disabledReason={forbidden ?? (claims ? undefined : 'Claims must be a JSON object')}
      call={sign}
      onRun={() => claims && sign.mutate({ name: crypto.id, claims, ...options })}
      api={
        <ApiEquivalent
          method="POST"
          path={`/crypto/keys/${nameInPath(crypto)}/jwt`}
          body={{ claims: claims ?? { sub: 'user_1' }, ...options }}
        />
      }
      result={sign.data && <Result label={`${sign.data.alg}, version ${sign.data.key_version}`} code={sign.data.token} />}
    >
      <Field label="Claims" error={claims ? undefined : 'Must be a JSON object'}>
        <Textarea rows={4} mono autoComplete="off" {...textField} />
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Expires in">
          <Select options={LIFETIMES} value={ttl} onValueChange={setTtl} />
        </Field>
        {kind === 'rsa' && (
          <Field label="Algorithm">
            <Select
              options={jwt.map((name) => ({ value: name as string, label: name }))}
              value={alg ?? jwt[0] ?? null}
              onValueChange={setAlg}
            />
          </Field>
        )}
      </div>
    </TryForm>
  );
}

/** Why a token is refused, in words. */
const FAULTS: Record<string, string> = {
  malformed: 'It isn’t a well-formed token.',
  alg_not_allowed: 'Its algorithm isn’t one of this key.',
  unknown_kid: 'It names another key or version.',
  version_disabled: 'Its version is below the oldest usable version.',
  version_destroyed: 'Its version was destroyed.',
  bad_signature: 'Its signature doesn’t match.',
  expired: 'It has expired.',
  not_yet_valid: 'It isn’t valid yet.',
  iss_mismatch: 'Its issuer is another one.',
  aud_mismatch: 'It’s for another audience.',
  sub_mismatch: 'Its subject is another one.',
};

export function TryVerifyJwt({ crypto }: { crypto: Detail }) {
  const trpc = useTRPC();
  const forbidden = useForbidden('transit:verify');
  const [token, tokenField] = useText();
  const [iss, issField] = useText();
  const [aud, audField] = useText();
  const verify = useMutation(trpc.cryptoKeys.verify_jwt.mutationOptions({ gcTime: 0 }));
  const expected = { ...(iss === '' ? {} : { iss }), ...(aud === '' ? {} : { aud }) };
  const input = { token: token.trim(), ...(Object.keys(expected).length === 0 ? {} : { expected }) };
  const current = JSON.stringify(verify.variables) === JSON.stringify({ name: crypto.id, ...input });
  const verdict = current ? verify.data : undefined;
  return (
    <TryForm
      label="Verify JWT"
      disabledReason={forbidden ?? (input.token === '' ? 'Enter a token first' : undefined)}
      call={verify}
      onRun={() => verify.mutate({ name: crypto.id, ...input })}
      api={
        <ApiEquivalent
          method="POST"
          path={`/crypto/keys/${nameInPath(crypto)}/jwt/verify`}
          body={{ ...input, token: input.token || 'eyJ…' }}
        />
      }
      result={
        verdict &&
        (verdict.valid ? (
          <>
            <Status state="ok">Valid, signed with version {verdict.key_version}</Status>
            <Result label="Claims" language="json" code={JSON.stringify(verdict.claims, null, 2)} />
          </>
        ) : (
          <Status state="failing">Not valid. {FAULTS[verdict.error ?? ''] ?? verdict.error}</Status>
        ))
      }
    >
      <Field label="Token">
        <Textarea rows={4} mono autoComplete="off" placeholder="eyJ…" {...tokenField} />
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Issuer" optional>
          <Input autoComplete="off" {...issField} />
        </Field>
        <Field label="Audience" optional>
          <Input autoComplete="off" {...audField} />
        </Field>
      </div>
    </TryForm>
  );
}

const FORMATS: Record<WebhookFormat, string> = {
  stripe: 'Stripe: signed timestamp',
  slack: 'Slack: signed timestamp',
  github: 'GitHub: body only',
  legacy: 'X-Webhook-Signature: body only',
  'aws-sns': 'AWS SNS: base64',
};

export function TryWebhook({ crypto }: { crypto: Detail }) {
  const trpc = useTRPC();
  const forbidden = useForbidden('transit:sign');
  const [payload, payloadField] = useText('{"id":"evt_1"}');
  const [format, setFormat] = useState<WebhookFormat>('stripe');
  const sign = useMutation(trpc.cryptoKeys.webhook_sign.mutationOptions({ gcTime: 0 }));
  return (
    <TryForm
      label="Sign webhook"
      disabledReason={forbidden}
      call={sign}
      onRun={() => sign.mutate({ name: crypto.id, payload, format })}
      api={<ApiEquivalent method="POST" path={`/crypto/keys/${nameInPath(crypto)}/webhook-sign`} body={{ payload, format }} />}
      result={
        sign.data && (
          <Result
            label={`Headers, version ${sign.data.key_version}`}
            code={Object.entries(sign.data.headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
          />
        )
      }
    >
      <Field label="Body" hint="The exact bytes that you send.">
        <Textarea rows={3} mono autoComplete="off" {...payloadField} />
      </Field>
      <Field label="Format">
        <Select options={WEBHOOK_FORMATS.map((one) => ({ value: one, label: FORMATS[one] }))} value={format} onValueChange={setFormat} />
      </Field>
    </TryForm>
  );
}
