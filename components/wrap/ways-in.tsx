'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link2 } from 'lucide-react';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { ShownOnce } from '#components/ui/shown-once.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import type { Preset } from './presets.ts';

type Way = 'base_url' | 'transport' | 'http';

/** The ways an unchanged SDK comes to the key: another address, another fetch, or a plain call of the proxy. */
export function WaysIn({ secretId, name, hosts, preset }: { secretId: string; name: string; hosts: readonly string[]; preset: Preset }) {
  const [way, setWay] = useState<Way>('base_url');
  return (
    <div className="flex flex-col gap-4">
      <Segmented
        label="How the SDK reaches the key"
        value={way}
        onValueChange={setWay}
        options={[
          { value: 'base_url', label: 'Base URL' },
          { value: 'transport', label: 'Fetch transport' },
          { value: 'http', label: 'Plain HTTP' },
        ]}
      />
      {way === 'base_url' && <BaseUrl secretId={secretId} hosts={hosts} preset={preset} />}
      {way === 'transport' && (
        <>
          <p className="text-ink-2">
            Give the SDK this fetch. It sends every call through the proxy with an API key of yours and the name of the credential.
          </p>
          <CodeBlock snippets={[{ id: 'ts', label: 'TypeScript', language: 'javascript', code: transportCode(name) }]} />
        </>
      )}
      {way === 'http' && (
        <>
          <p className="text-ink-2">Any HTTP client works: send the request to the proxy and name the upstream in a header.</p>
          <CodeBlock
            snippets={[{ id: 'curl', label: 'curl', language: 'bash', code: curlCode(name, hosts[0] ?? 'api.example.com') }]}
            wrap
          />
        </>
      )}
    </div>
  );
}

const FOREVER = 'never';
const LIFETIMES = [
  { value: FOREVER, label: 'Until it is revoked' },
  { value: '86400', label: '1 day' },
  { value: '2592000', label: '30 days' },
  { value: '31536000', label: '1 year' },
];

function BaseUrl({ secretId, hosts, preset }: { secretId: string; hosts: readonly string[]; preset: Preset }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [host, setHost] = useState(hosts[0] ?? '');
  const [label, setLabel] = useState('');
  const [ttl, setTtl] = useState(FOREVER);
  const [shown, setShown] = useState<string>();
  const create = useMutation(
    trpc.wrap.createToken.mutationOptions({
      gcTime: 0,
      onSuccess: ({ base_url }) => {
        setShown(base_url);
        create.reset();
        return cache.invalidateQueries(trpc.wrap.pathFilter());
      },
    }),
  );
  const body = {
    secret: secretId,
    host,
    ...(label.trim() && { label: label.trim() }),
    ...(ttl !== FOREVER && { ttl_seconds: Number(ttl) }),
  };
  return (
    <>
      <p className="text-ink-2">
        Create a gateway token: an address that stands for this key at one host. Give it to the SDK instead of the provider's.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        {hosts.length > 1 && (
          <Field label="Host">
            <Select value={host} onValueChange={setHost} options={hosts.map((value) => ({ value, label: value }))} />
          </Field>
        )}
        <Field label="Label" optional hint="Where it is used, such as checkout-service.">
          <Input value={label} maxLength={100} onChange={(event) => setLabel(event.target.value)} />
        </Field>
        <Field label="Works">
          <Select value={ttl} onValueChange={setTtl} options={LIFETIMES} />
        </Field>
      </div>
      <ApiEquivalent method="POST" path="/wrap/tokens" body={body} />
      <MutationError error={create.error} />
      <Button variant="primary" icon={<Link2 />} className="w-fit" loading={create.isPending} onClick={() => create.mutate(body)}>
        Create gateway token
      </Button>
      <CodeBlock snippets={[{ id: 'ts', label: preset.label, language: 'javascript', code: preset.sdk }]} />
      <Callout title="Treat the address like a key">
        Everybody who has it can use the credential at this host, and nothing else. Revoke it at any time.
      </Callout>
      <ShownOnce value={shown} title="Gateway token created" label="base URL" filename="base-url.txt" onGone={() => setShown(undefined)} />
    </>
  );
}

const transportCode = (name: string): string => `import { wrapFetch } from './sdk/index.ts';

const fetch = wrapFetch({
  base_url: SALLYPORT_URL,
  credential: SALLYPORT_KEY,
  secret: '${name}',
});
// e.g. new OpenAI({ apiKey: 'unused', fetch })`;

const curlCode = (name: string, host: string): string => `curl "$SALLYPORT_URL/proxy" \\
  -H "Authorization: Bearer $SALLYPORT_KEY" \\
  -H 'X-Svc-Proxy-URL: https://${host}/' \\
  -H 'X-Svc-Upstream-Auth-Secret: ${name}'`;
