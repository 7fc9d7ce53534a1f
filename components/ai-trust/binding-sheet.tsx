'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { z } from 'zod';
import { KINDS } from '#components/ai-gateways/ai-labels.ts';
import { ALL_GATEWAYS, agentsOf } from '#components/ai-gateways/list-search.ts';
import { SettingField } from '#components/ai-gateways/setting-field.tsx';
import { keyOf, type Setting, type SettingValues, valuesOf } from '#components/ai-gateways/settings-fields.ts';
import { schemaOf } from '#components/ai-gateways/settings-schema.ts';
import { DAYS, OPERATION_OPTIONS, scopeGroups, scopeOf } from '#components/ai-gateways/token-scope.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { BINDING_KINDS } from '#server/domain/ai-trust/schema.ts';
import type { BindingRow } from './binding-row.ts';
import { linesOf, linesProblem, rulesOf } from './rule-lines.ts';

const TOOLS_ONLY = 'none';
const BindingFields = z.object({
  name: z.string().trim().min(1, 'is required').max(100),
  issuer: z.string().trim().min(1, 'is required').max(512),
  claim_rules: z.string().superRefine((text, context) => {
    const problem = linesProblem(text);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  }),
  token_ttl_seconds: z.string().regex(/^\d{1,4}$/, 'must be 60 to 3600'),
});

type Props = { open: boolean; binding: BindingRow | undefined; onClose: () => void };

/** Makes a binding, or changes one. The gateway stays. */
export function BindingSheet({ open, binding, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title={binding ? `Edit ${binding.name}` : 'New binding'}
      description="Tokens must also be made for the audience service:gateway."
    >
      {open && <BindingForm binding={binding} onClose={onClose} />}
    </Sheet>
  );
}

function BindingForm({ binding, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const gateways = useQuery(trpc.aiGateways.list.queryOptions(ALL_GATEWAYS));
  const [chosen, setGateway] = useState(binding?.gateway_id);
  const gateway = chosen ?? gateways.data?.data[0]?.id ?? '';
  const agents = useQuery(trpc.aiGateways.listAgents.queryOptions(agentsOf(gateway), { enabled: gateway !== '' }));
  const [agent, setAgent] = useState(binding ? (binding.agent_id ?? TOOLS_ONLY) : undefined);
  const agentId = agent ?? agents.data?.data[0]?.id ?? TOOLS_ONLY;
  const [kind, setKind] = useState(binding?.kind ?? 'agent');
  const kindOf = agentId === TOOLS_ONLY ? 'tool' : kind;
  const scopeSettings = BINDING_KINDS.flatMap((one) => scopeGroups(one).flatMap((group) => group.settings));
  const form = useZodForm({
    schema: BindingFields,
    defaultValues: {
      name: binding?.name ?? '',
      issuer: binding?.issuer ?? 'https://token.actions.githubusercontent.com',
      claim_rules: binding ? linesOf(binding.claim_rules) : '',
      token_ttl_seconds: String(binding?.token_ttl_seconds ?? 900),
    },
  });
  const scope = useZodForm({ schema: schemaOf(scopeSettings), defaultValues: scopeValues(scopeSettings, binding) });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty || scope.formState.isDirty);
  const done = {
    onError: refuse,
    onSuccess: ({ name }: { name: string }) => {
      notifyDone(binding ? 'Binding saved' : `${name} created. Test a token next.`);
      onClose();
      return cache.invalidateQueries(trpc.aiTrust.pathFilter());
    },
  };
  const create = useMutation(trpc.aiTrust.create.mutationOptions(done));
  const update = useMutation(trpc.aiTrust.update.mutationOptions(done));
  const values = form.watch();
  const limits = scope.watch() as SettingValues;
  const inputOf = (value: z.output<typeof BindingFields>) => ({
    name: value.name,
    issuer: value.issuer,
    claim_rules: rulesOf(value.claim_rules),
    agent_id: agentId === TOOLS_ONLY ? null : agentId,
    kind: kindOf,
    token_ttl_seconds: Number(value.token_ttl_seconds),
    scope: scopeOf(kindOf, limits),
  });
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={async (value) => {
        clear();
        if (!(await scope.trigger())) return;
        if (binding) update.mutate({ id: binding.id, ...inputOf(value) });
        else create.mutate({ gateway_id: gateway, ...inputOf(value) });
      }}
    >
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input autoComplete="off" placeholder="acme/app, main" {...form.register('name')} />
      </Field>
      <Field label="Issuer" required error={fieldError(form, 'issuer')} hint="Exactly as the token’s iss says it.">
        <Input mono autoComplete="off" {...form.register('issuer')} />
      </Field>
      <Field
        label="Rules"
        required
        error={fieldError(form, 'claim_rules')}
        hint="One claim = value per line; all must hold. * stands for part of a segment, ** for anything, [a, b] for either. At least one rule on sub."
      >
        <Textarea mono rows={3} placeholder="sub = repo:acme/app:ref:refs/heads/main" {...form.register('claim_rules')} />
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        {!binding && (
          <Field label="Gateway" required>
            <Select
              value={gateway || null}
              onValueChange={(next) => {
                setGateway(next);
                setAgent(undefined);
              }}
              options={(gateways.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            />
          </Field>
        )}
        <Field label="Agent">
          <Select
            value={agentId}
            onValueChange={setAgent}
            options={[
              ...(agents.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
              { value: TOOLS_ONLY, label: 'None: tools of MCP servers only' },
            ]}
          />
        </Field>
        <Field label="Kind of token" hint={KINDS[kindOf].detail}>
          <Select
            value={kindOf}
            disabled={agentId === TOOLS_ONLY}
            onValueChange={setKind}
            options={BINDING_KINDS.map((value) => ({ value, label: KINDS[value].label }))}
          />
        </Field>
        <Field label="Expires after" error={fieldError(form, 'token_ttl_seconds')} hint="60 to 3600. SDKs refresh two minutes before.">
          <Input inputMode="numeric" suffix="seconds" {...form.register('token_ttl_seconds')} />
        </Field>
      </div>
      {scopeGroups(kindOf).map((group) => (
        <details key={group.title} className="rounded-lg border border-line-strong">
          <summary className="cursor-pointer rounded-lg px-3 py-2 font-medium text-sm">{group.title}</summary>
          <div className="flex flex-col gap-5 border-line border-t p-3">
            {group.settings.map((setting) => (
              <SettingField
                key={setting.name}
                setting={setting}
                form={scope}
                value={limits[keyOf(setting.name)] ?? ''}
                options={{ operations: OPERATION_OPTIONS, days: DAYS }}
                disabled={false}
              />
            ))}
          </div>
        </details>
      ))}
      <ApiEquivalent
        method={binding ? 'PATCH' : 'POST'}
        path={binding ? `/ai-gateway/oidc-bindings/${binding.id}` : '/ai-gateway/oidc-bindings'}
        body={binding ? inputOf(values) : { gateway_id: gateway || 'GATEWAY_ID', ...inputOf(values) }}
      />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            keys="mod+enter"
            loading={create.isPending || update.isPending}
            disabledReason={gateway === '' ? 'Create a gateway first' : undefined}
          >
            {binding ? 'Save' : 'Create binding'}
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}

const scopeValues = (settings: readonly Setting[], binding: BindingRow | undefined) =>
  valuesOf(settings, (binding?.scope ?? {}) as Record<string, unknown>);
