'use client';

import { useQuery } from '@tanstack/react-query';
import { Braces, KeyRound, Terminal } from 'lucide-react';
import { useState } from 'react';
import { addressings } from '#components/routes/addressing.ts';
import { cliCall } from '#components/routes/cli-call.ts';
import { codeOf } from '#components/shell/call-code.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Field } from '#components/ui/field.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';

const KEY = { variable: 'SALLYPORT_KEY', value: '$SALLYPORT_KEY' };

/** Programs that run as they stand, with this workspace's own addresses: a key in the environment, then a call of a route and one of the API. */
export function QuickstartView() {
  const { api_url, proxy_url, space } = useScope();
  const trpc = useTRPC();
  const path = usePath();
  const [noKey, noRoute] = [useForbidden('api_key:create'), useForbidden('route:create')];
  const routes = useQuery(trpc.routes.list.queryOptions({ enabled: true, per_page: 50, sort: 'created_at', order: 'asc' }));
  const [picked, setPicked] = useState<string>();
  const route = routes.data?.data.find(({ id }) => id === picked) ?? routes.data?.data[0];
  const name = space === 'test' ? 'Test' : 'Live';
  return (
    <Page>
      <PageHeader title="Quickstart" description={`Ready-to-run code for ${name}, with your workspace’s URLs.`} />
      <SectionCard
        title="1. Set your API key"
        description={`${name} keys only work in ${name}. The code reads the key from ${KEY.variable}, so it’s never saved in a file.`}
        actions={
          noKey ? (
            <Button size="sm" icon={<KeyRound />} disabledReason={noKey}>
              Create key
            </Button>
          ) : (
            <LinkButton size="sm" href={path('/api-keys?open=new')} icon={<KeyRound />}>
              Create key
            </LinkButton>
          )
        }
      >
        <CodeBlock snippets={[{ id: 'key', label: 'Shell', language: 'bash', code: `export ${KEY.variable}='tk_${space}_…'` }]} />
      </SectionCard>
      <SectionCard
        title="2. Call a route"
        description="Append /{route}/{path} to your proxy URL. The gateway injects the upstream’s credential."
      >
        {routes.error && !routes.data ? (
          <QueryError query={routes} what="Routes" />
        ) : !routes.data ? (
          <Skeleton lines={4} label="Loading routes" />
        ) : !route ? (
          <p className="flex flex-wrap items-center gap-3 text-ink-2">
            {name} has no enabled routes yet.
            {noRoute ?? (
              <LinkButton size="sm" href={path('/routes?create=true')}>
                Create route
              </LinkButton>
            )}
          </p>
        ) : (
          <div className="flex min-w-0 flex-col gap-3">
            <Field label="Route" className="max-w-sm">
              <Select
                options={routes.data.data.map(({ id, name: label }) => ({ value: id, label }))}
                value={route.id}
                onValueChange={setPicked}
              />
            </Field>
            <CodeBlock
              snippets={[
                ...codeOf({
                  method: 'GET',
                  ...addressings({
                    proxyUrl: proxy_url,
                    reference: route.slug ?? route.id,
                    key: KEY.value,
                    call: { method: 'GET', path: '/hello' },
                  }).byPath,
                }),
                ...cliCall(route.slug ?? route.id, undefined, { method: 'GET', path: '/hello' }),
              ]}
            />
          </div>
        )}
      </SectionCard>
      <SectionCard
        title="3. Manage the workspace"
        description="The Management API does everything the dashboard does."
        actions={
          <LinkButton size="sm" href={path('/explorer')} icon={<Braces />}>
            Open API explorer
          </LinkButton>
        }
      >
        <div className="flex min-w-0 flex-col gap-3">
          <p className="flex flex-wrap items-center gap-2 text-ink-2">
            Base URL <CopyText value={api_url} label="base URL" />
          </p>
          <CodeBlock
            title="List routes"
            snippets={codeOf({ method: 'GET', url: `${api_url}/routes?per_page=5`, headers: { Authorization: `Bearer ${KEY.value}` } })}
          />
          <CodeBlock
            title="Create an environment"
            snippets={codeOf({
              method: 'POST',
              url: `${api_url}/environments`,
              headers: { Authorization: `Bearer ${KEY.value}` },
              body: { name: 'staging', display_name: 'Staging' },
            })}
          />
        </div>
      </SectionCard>
      <SectionCard
        title="4. Stay in the terminal"
        description="service-cli signs in with your browser, so there’s no key to keep. It has a command for every operation."
        actions={
          <LinkButton size="sm" href="/docs/cli" icon={<Terminal />}>
            Read the guide
          </LinkButton>
        }
      >
        <CodeBlock
          snippets={[
            {
              id: 'cli',
              label: 'Shell',
              language: 'bash',
              code: `service-cli login --host ${new URL(api_url).origin}\nservice-cli routes list\nservice-cli logs --follow`,
            },
          ]}
        />
      </SectionCard>
    </Page>
  );
}
