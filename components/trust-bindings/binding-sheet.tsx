'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Controller } from 'react-hook-form';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm, type ZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { PROVIDER_NAMES, PROVIDERS } from '#server/domain/trust-bindings/providers.shared.ts';
import { bindingWarnings } from '#server/domain/trust-bindings/warnings.shared.ts';
import { BindingFields, type BindingValues, FIELD_LABELS, inputOf, newBinding, valuesOf } from './binding-fields.ts';
import type { BindingRow, TrustingClient } from './binding-row.ts';
import { PresetFields } from './preset-fields.tsx';

const FORM = 'trust-binding-form';

type Props = { open: boolean; client: TrustingClient; binding: BindingRow | undefined; onClose: () => void };

/** Makes a binding from plain questions about a platform, or changes one. */
export function BindingSheet({ open, client, binding, onClose }: Props) {
  const forbidden = useForbidden('oauth_client:update');
  const [dirty, setDirty] = useUnsavedIn(open);
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={binding ? binding.name : 'New trust binding'}
      description={binding ? undefined : `Whose tokens can be exchanged for those of ${client.name}?`}
      dismissible={!dirty}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" disabledReason={forbidden}>
            {binding ? 'Save' : 'Create trust binding'}
          </Button>
        </>
      }
    >
      {open && (
        <Fields
          key={binding?.id ?? 'new'}
          client={client}
          binding={binding}
          onDirty={setDirty}
          onDone={() => {
            setDirty(false);
            onClose();
          }}
        />
      )}
    </Sheet>
  );
}

type FieldsProps = { client: TrustingClient; binding: BindingRow | undefined; onDirty: (dirty: boolean) => void; onDone: () => void };

function Fields({ client, binding, onDirty, onDone }: FieldsProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { slug } = useScope();
  const form = useZodForm({ schema: BindingFields, defaultValues: binding ? valuesOf(binding) : newBinding(slug) });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: binding,
    values: valuesOf,
    labels: FIELD_LABELS,
    draft: { name: `trust-bindings/${client.id}/${binding?.id ?? 'new'}` },
    onNothingLeft: onDone,
  });
  const saved = async (row: { name: string }) => {
    forget();
    notifyDone(binding ? 'Saved' : `${row.name} created. Test a token next.`);
    await cache.invalidateQueries(trpc.trustBindings.pathFilter());
    await cache.invalidateQueries(trpc.oauthClients.pathFilter());
    onDone();
  };
  const create = useMutation(trpc.trustBindings.create.mutationOptions({ onSuccess: saved, onError: refuse }));
  const update = useMutation(trpc.trustBindings.update.mutationOptions({ onSuccess: saved, onError: refuse }));
  useUnsavedGuard(form.formState.isDirty, onDirty);
  const values = form.watch();
  const { label, issuer_example, audience_note, claims: useful } = PROVIDERS[values.provider];
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={create.isPending || update.isPending || undefined}
      onSubmit={async (value) => {
        clear();
        const call = binding
          ? update.mutateAsync({ id: client.id, binding_id: binding.id, ...inputOf(value, binding), expected_updated_at: started() })
          : create.mutateAsync({ id: client.id, ...inputOf(value) });
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      <Field label="Platform" required>
        <Select
          options={PROVIDER_NAMES.map((name) => ({ value: name, label: PROVIDERS[name].label }))}
          value={values.provider}
          onValueChange={(provider) => {
            form.setValue('provider', provider, { shouldDirty: true });
            if (binding) return;
            const { issuer, single_use } = newBinding(slug, provider);
            for (const [name, value] of Object.entries({ issuer, single_use, subject: '', claims: '' }))
              form.setValue(name as keyof BindingValues, value, { shouldDirty: true });
            form.clearErrors();
          }}
        />
      </Field>
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input placeholder="Deploy from main" {...form.register('name')} />
      </Field>
      {!binding && <PresetFields key={values.provider} form={form} provider={values.provider} />}
      <Field label="Issuer" required error={fieldError(form, 'issuer')} hint="The iss of its tokens, exactly.">
        <Input mono placeholder={issuer_example} {...form.register('issuer')} />
      </Field>
      <Field
        label="Audience"
        required
        error={fieldError(form, 'audience')}
        hint={audience_note ?? 'The workload asks its platform for a token with this audience.'}
      >
        <Input mono {...form.register('audience')} />
      </Field>
      <Field
        label="Subject"
        error={fieldError(form, 'subject')}
        hint="The sub of its tokens. * is any text without : and /, ** is any text. Leave it empty if claims say who it is."
      >
        <Input mono placeholder={PROVIDERS[values.provider].example.subject ?? ''} {...form.register('subject')} />
      </Field>
      <Field
        label="Claims"
        optional
        error={fieldError(form, 'claims')}
        hint={`One per line; all must match. Lines of the same claim are alternatives.${useful.length > 0 ? ` ${label} has ${useful.join(', ')}.` : ''}`}
      >
        <Textarea mono rows={3} spellCheck={false} placeholder={placeholderOf(values.provider)} {...form.register('claims')} />
      </Field>
      <Scopes form={form} client={client} />
      <Field label="Lifetime of tokens">
        <Select
          options={LIFETIMES}
          value={values.ttl_seconds}
          onValueChange={(next) => form.setValue('ttl_seconds', next, { shouldDirty: true })}
        />
      </Field>
      <Toggle
        form={form}
        name="single_use"
        label="Accept each token once"
        description="Turn it off for tokens that are files or cached, such as those of Kubernetes."
      />
      <Toggle form={form} name="enabled" label="On" description="Tokens are accepted." />
      <Warnings client={client} values={values} />
      <ApiEquivalent
        oauth
        method={binding ? 'PATCH' : 'POST'}
        path={binding ? `/oauth-clients/${client.id}/trust-bindings/${binding.id}` : `/oauth-clients/${client.id}/trust-bindings`}
        body={inputOf(values, binding)}
      />
    </Form>
  );
}

const LIFETIMES = [
  { value: '300', label: '5 minutes' },
  { value: '900', label: '15 minutes' },
  { value: '1800', label: '30 minutes' },
  { value: '3600', label: '1 hour' },
] as const;

const placeholderOf = (provider: BindingValues['provider']): string => {
  const { claims, example } = PROVIDERS[provider];
  const [first] = Object.entries(example.claims);
  return first ? `${first[0]} = ${first[1]}` : claims[0] ? `${claims[0]} = …` : 'claim = pattern';
};

type BindingForm = ZodForm<BindingValues, BindingValues>;

function Scopes({ form, client }: { form: BindingForm; client: TrustingClient }) {
  const chosen = form.watch('scopes');
  const toggle = (scope: string, on: boolean) =>
    form.setValue('scopes', on ? [...chosen, scope].sort() : chosen.filter((one) => one !== scope), {
      shouldDirty: true,
      shouldValidate: true,
    });
  // A scope that the client lost is still shown, so that it can be taken away.
  const offered = [...new Set([...client.allowed_scopes, ...chosen])].sort();
  return (
    <Field
      group
      label="Scopes"
      required
      error={fieldError(form, 'scopes')}
      hint="What exchanged tokens may do, out of what the client may."
    >
      {offered.length === 0 ? (
        <p className="text-ink-2">The client has no allowed scopes yet. Edit the client first.</p>
      ) : (
        <div className="grid gap-2 sm:grid-cols-2">
          {offered.map((scope) => (
            <Checkbox
              key={scope}
              checked={chosen.includes(scope)}
              onCheckedChange={(on) => toggle(scope, on)}
              label={<span className="font-mono text-xs">{scope}</span>}
            />
          ))}
        </div>
      )}
    </Field>
  );
}

/** What saving it would warn about, before it is saved. */
function Warnings({ client, values }: { client: TrustingClient; values: BindingValues }) {
  const { slug } = useScope();
  const { subject, claims, issuer, audience, provider, scopes } = inputOf(values);
  if (subject === null && Object.keys(claims).length === 0) return null;
  const warnings = bindingWarnings(
    { subject, claims, issuer, audience, provider, scopes },
    { slug, step_up_scopes: client.step_up_scopes },
  );
  if (warnings.length === 0) return null;
  return (
    <Callout tone="warn" title="Check before you save">
      <ul className="flex list-disc flex-col gap-1 pl-4">
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </Callout>
  );
}

type ToggleProps = { form: BindingForm; name: 'single_use' | 'enabled'; label: string; description: string };
const Toggle = ({ form, name, label, description }: ToggleProps) => (
  <Controller
    control={form.control}
    name={name}
    render={({ field }) => <Checkbox checked={field.value} onCheckedChange={field.onChange} label={label} description={description} />}
  />
);
