'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { StoreSecret } from '#components/routes/store-secret.tsx';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { type Agent, slugOf } from './ai-labels.ts';
import { ALL_GATEWAYS } from './list-search.ts';
import { TestCall } from './test-call.tsx';

type Props = { open: boolean; onClose: () => void; gatewayId?: string };

/** From a provider and its key to an agent that answers: choose, test, mint. */
export function AgentWizard({ open, onClose, gatewayId }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="New agent"
      description="A URL of its own in front of one provider. Callers never see the provider’s key."
    >
      {open && <Steps onClose={onClose} gatewayId={gatewayId} />}
    </Sheet>
  );
}

function Steps({ onClose, gatewayId }: Omit<Props, 'open'>) {
  const [agent, setAgent] = useState<Agent>();
  return agent ? <ReadyStep agent={agent} /> : <SetUp onClose={onClose} gatewayId={gatewayId} onCreated={setAgent} />;
}

const CUSTOM = 'custom';
const NEW_GATEWAY = 'new';

function SetUp({ onClose, gatewayId, onCreated }: Omit<Props, 'open'> & { onCreated: (agent: Agent) => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const noSecrets = useForbidden('secret:create');
  const providers = useQuery(trpc.aiGateways.providers.queryOptions({}));
  const gateways = useQuery(trpc.aiGateways.list.queryOptions(ALL_GATEWAYS, { enabled: gatewayId === undefined }));
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 100 }));
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100 }));
  const [name, setName] = useState('');
  const [slug, setSlug] = useState('');
  const [providerId, setProviderId] = useState('openai');
  const [chosenGateway, setGateway] = useState<string>();
  const [secret, setSecret] = useState<string | null>(null);
  const [storing, setStoring] = useState(false);
  const [upstream, setUpstream] = useState('');
  const [route, setRoute] = useState<string | null>(null);
  const [model, setModel] = useState('');
  const provider = providers.data?.data.find(({ id }) => id === providerId);
  const gateway = gatewayId ?? chosenGateway ?? gateways.data?.data[0]?.id ?? NEW_GATEWAY;
  const custom = providerId === CUSTOM;
  const inPath = gateway === NEW_GATEWAY ? 'GATEWAY_ID' : gateway;
  const finalSlug = slug || slugOf(name);
  const input = {
    name: name.trim(),
    slug: finalSlug,
    ...(custom
      ? { primary_route_id: route }
      : {
          provider: providerId,
          ...(secret ? { upstream_secret_id: secret } : {}),
          ...(upstream.trim() ? { upstream: upstream.trim() } : {}),
        }),
    ...(model.trim() ? { default_model: model.trim() } : {}),
  };
  const create = useMutation(trpc.aiGateways.createAgent.mutationOptions());
  const createGateway = useMutation(trpc.aiGateways.create.mutationOptions());
  const submit = async () => {
    const of = gateway === NEW_GATEWAY ? (await createGateway.mutateAsync({ name: 'Default', slug: 'default' })).id : gateway;
    // A gateway that was just made is chosen, should the agent be refused.
    setGateway(of);
    const agent = await create.mutateAsync({ id: of, ...input });
    void cache.invalidateQueries(trpc.aiGateways.pathFilter());
    void cache.invalidateQueries(trpc.account.pathFilter());
    onCreated(agent);
  };
  if (providers.isError) return <QueryError query={providers} what="Providers" />;
  if (!providers.data) return <Skeleton lines={6} label="Loading providers" />;
  const missing =
    name.trim() === ''
      ? 'Enter a name'
      : custom
        ? route
          ? undefined
          : 'Choose a route'
        : provider?.needs_secret && !secret
          ? 'Choose or store the provider’s key'
          : provider?.needs_upstream && upstream.trim() === ''
            ? 'Enter the base URL'
            : provider?.needs_default_model && model.trim() === ''
              ? 'Enter a default model'
              : undefined;
  return (
    <form
      className="flex grow flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (!missing) void submit().catch(() => cache.invalidateQueries(trpc.aiGateways.list.queryFilter()));
      }}
    >
      <MutationError error={createGateway.error ?? create.error} />
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Name" required>
          <Input placeholder="Support bot" autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label="Slug" hint="Part of its URL.">
          <Input
            mono
            placeholder={slugOf(name) || 'support-bot'}
            autoComplete="off"
            value={slug}
            onChange={(event) => setSlug(event.target.value)}
          />
        </Field>
      </div>
      {gatewayId === undefined && (
        <Field label="Gateway" hint={gateway === NEW_GATEWAY ? 'A gateway named Default is created with it.' : undefined}>
          <Select
            value={gateway}
            onValueChange={setGateway}
            options={
              gateways.data?.data.length
                ? gateways.data.data.map(({ id, name: label }) => ({ value: id, label }))
                : [{ value: NEW_GATEWAY, label: 'Default' }]
            }
          />
        </Field>
      )}
      <Field group label="Provider">
        <RadioCards
          columns={2}
          value={providerId}
          onValueChange={(next) => {
            setProviderId(next);
            create.reset();
          }}
          options={[
            ...providers.data.data.map(({ id, label, default_model }) => ({
              value: id,
              title: label,
              description: default_model ?? 'You name the model',
            })),
            { value: CUSTOM, title: 'Your own route', description: 'Uses a route that exists' },
          ]}
        />
      </Field>
      {custom ? (
        <Field label="Route" required hint="Its target and injected headers are used for every call.">
          <Combobox
            options={(routes.data?.data ?? []).map((one) => ({ value: one.id, label: one.name, detail: one.slug ?? '' }))}
            value={route}
            onValueChange={setRoute}
            placeholder="Choose a route…"
          />
        </Field>
      ) : (
        <>
          <Field
            label="Base URL"
            required={provider?.needs_upstream ?? false}
            hint={`${provider?.needs_upstream ? '' : 'Leave empty for the provider’s own address. '}A private address must be allowed by the operator.`}
          >
            <Input
              mono
              placeholder={provider?.default_upstream ?? 'https://llm.example.com'}
              autoComplete="off"
              value={upstream}
              onChange={(event) => setUpstream(event.target.value)}
            />
          </Field>
          {storing ? (
            <StoreSecret
              suggestedName={`${providerId.toUpperCase().replaceAll('-', '_')}_API_KEY`}
              onStored={({ id }) => {
                setSecret(id);
                setStoring(false);
              }}
              onCancel={() => setStoring(false)}
            />
          ) : (
            <Field
              label={`${provider?.label ?? 'Provider'} key`}
              required={provider?.needs_secret ?? true}
              hint="A secret. It is injected into each call, and never copied."
              action={
                <Button size="sm" variant="ghost" disabledReason={noSecrets} onClick={() => setStoring(true)}>
                  Store a new key
                </Button>
              }
            >
              <Combobox
                options={(secrets.data?.data ?? []).map((one) => ({ value: one.id, label: one.name }))}
                value={secret}
                onValueChange={setSecret}
                placeholder="Choose a secret…"
              />
            </Field>
          )}
        </>
      )}
      <Field label="Default model" required={provider?.needs_default_model ?? false} hint="For calls that name none.">
        <Input
          mono
          placeholder={provider?.default_model ?? 'model'}
          autoComplete="off"
          value={model}
          onChange={(event) => setModel(event.target.value)}
        />
      </Field>
      <ApiEquivalent
        method="POST"
        path={`/ai-gateway/gateways/${inPath}/agents`}
        body={{ ...input, name: input.name || 'NAME', slug: input.slug || 'SLUG' }}
      />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" loading={create.isPending || createGateway.isPending} disabledReason={missing}>
            Create agent
          </Button>
        </div>
      </SheetFooter>
    </form>
  );
}

const PING = 'Sends one word through it as a caller would, and charges the agent.';

function ReadyStep({ agent }: { agent: Agent }) {
  const router = useRouter();
  const path = usePath();
  const readOnly = useForbidden('ai_gateway:update');
  const [testing, setTesting] = useState(false);
  // Closing the sheet rewrites the address of this page, which would undo going to the next one.
  const to = (query: string) => router.push(path(`/ai/agents/${agent.id}${query}`));
  return (
    <div className="flex grow flex-col gap-5">
      <p className="text-ink-2">{agent.name} is ready. Mint a token for it, and paste its URL and token into your tool.</p>
      <SectionCard title="Try it first" description={PING}>
        {testing ? (
          <TestCall agentId={agent.id} />
        ) : (
          <Button icon={<FlaskConical />} disabledReason={readOnly} onClick={() => setTesting(true)}>
            Test call
          </Button>
        )}
      </SectionCard>
      <SheetFooter>
        <div className="ml-auto flex gap-2">
          <Button onClick={() => to('?tab=connect')}>Connect</Button>
          <Button variant="primary" onClick={() => to('?tab=tokens&open=mint')}>
            Mint a token
          </Button>
        </div>
      </SheetFooter>
    </div>
  );
}
