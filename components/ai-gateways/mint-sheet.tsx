'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { handOver, madeIn } from '#components/trpc/handover.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, useZodForm } from '#components/ui/form.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { TOKEN_KINDS, type TokenKind } from '#server/domain/ai-gateways/tokens.schema.ts';
import { KINDS } from './ai-labels.ts';
import { SettingField } from './setting-field.tsx';
import { keyOf, type Setting, type SettingValues, valuesOf } from './settings-fields.ts';
import { schemaOf } from './settings-schema.ts';
import { DAYS, OPERATION_OPTIONS, scopeGroups, scopeOf } from './token-scope.ts';

export type TokenOwner = { of: 'agent' | 'gateway'; id: string; name: string };
type Props = { owner: TokenOwner; open: boolean; onClose: () => void };

const LIFETIMES = [
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
  { value: '7776000', label: '90 days' },
];
const NAME: Setting = { name: 'token_name', label: 'Name', kind: 'text', placeholder: 'ci', hint: 'Where it is used.' };
const JKT: Setting = {
  name: 'dpop_jkt',
  label: 'DPoP key thumbprint',
  kind: 'text',
  mono: true,
  hint: 'SHA-256 thumbprint of the caller’s key (RFC 7638). The token then works only with proofs of that key.',
};

/** Makes a token, narrowed as its caller needs it; it is shown once. */
export function MintSheet({ owner, open, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title={`Mint token for ${owner.name}`}
      description="A token can only narrow what its agent allows. It is shown once."
    >
      {open && <MintForm owner={owner} onClose={onClose} />}
    </Sheet>
  );
}

function MintForm({ owner, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const scope = useScope();
  const [kind, setKind] = useState<TokenKind>(owner.of === 'agent' ? 'agent' : 'tool');
  const [lifetime, setLifetime] = useState('2592000');
  // Every field of every kind: another kind shows other fields and keeps what was typed.
  const all = TOKEN_KINDS.flatMap((one) => scopeGroups(one).flatMap((group) => group.settings));
  const form = useZodForm({ schema: schemaOf(all), defaultValues: valuesOf([NAME, JKT, ...all], {}) });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const done = {
    gcTime: 0,
    onError: refuse,
    onSuccess: ({ name, token }: { name: string | null; token: string }) => {
      void cache.invalidateQueries(trpc.aiGateways.pathFilter());
      handOver([
        { name: 'capability_token', value: token, person: scope.person, from: `${madeIn(scope)} ${name ?? 'Unnamed'}, for ${owner.name}.` },
      ]);
      // The answer holds the token; the card above has the only copy now.
      byAgent.reset();
      byGateway.reset();
      onClose();
    },
  };
  const byAgent = useMutation(trpc.aiGateways.mintAgentToken.mutationOptions(done));
  const byGateway = useMutation(trpc.aiGateways.mintGatewayToken.mutationOptions(done));
  const values = form.watch() as SettingValues;
  const inputOf = (value: SettingValues) => {
    const [name, jkt] = [value[NAME.name], value[JKT.name]].map((text) => String(text ?? '').trim());
    return {
      ...(name ? { name } : {}),
      ...(kind === 'agent' ? {} : { kind }),
      expires_in_seconds: Number(lifetime),
      ...(jkt ? { dpop_required: true, dpop_jkt: jkt } : {}),
      scope: scopeOf(kind, value),
    };
  };
  const kinds = owner.of === 'agent' ? TOKEN_KINDS : (['tool'] as const);
  const field = (setting: Setting) => (
    <SettingField
      key={setting.name}
      setting={setting}
      form={form}
      value={values[keyOf(setting.name)] ?? ''}
      options={{ operations: OPERATION_OPTIONS, days: DAYS }}
      disabled={false}
    />
  );
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={(value) => {
        clear();
        const input = inputOf(value) as never as { expires_in_seconds: number };
        if (owner.of === 'agent') byAgent.mutate({ id: owner.id, ...input });
        else byGateway.mutate({ id: owner.id, ...input });
      }}
    >
      {panel}
      {field(NAME)}
      {owner.of === 'agent' && (
        <Field group label="Kind">
          <RadioCards
            columns={2}
            value={kind}
            onValueChange={(next) => {
              setKind(next);
              if (next === 'oneshot') setLifetime('3600');
            }}
            options={kinds.map((value) => ({ value, title: KINDS[value].label, description: KINDS[value].detail }))}
          />
        </Field>
      )}
      <Field label="Expires after">
        <Select className="sm:w-56" options={LIFETIMES} value={lifetime} onValueChange={setLifetime} />
      </Field>
      {scopeGroups(kind).map((group) => (
        <details
          key={group.title}
          className="rounded-lg border border-line-strong"
          open={group.title === 'Spend' || group.title === 'Tools'}
        >
          <summary className="cursor-pointer rounded-lg px-3 py-2 font-medium text-sm">{group.title}</summary>
          <div className="flex flex-col gap-5 border-line border-t p-3">{group.settings.map(field)}</div>
        </details>
      ))}
      <details className="rounded-lg border border-line-strong">
        <summary className="cursor-pointer rounded-lg px-3 py-2 font-medium text-sm">Key binding (DPoP)</summary>
        <div className="border-line border-t p-3">{field(JKT)}</div>
      </details>
      <ApiEquivalent
        method="POST"
        path={owner.of === 'agent' ? `/ai-gateway/agents/${owner.id}/tokens` : `/ai-gateway/gateways/${owner.id}/tokens`}
        body={inputOf(values)}
      />
      <SheetFooter>
        <SpaceNote space={scope.space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={byAgent.isPending || byGateway.isPending}>
            Mint token
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
