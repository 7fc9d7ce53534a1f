'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Controller } from 'react-hook-form';
import type { z } from 'zod';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Checkbox, RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { SsoConnection } from '#server/domain/sso/schema.ts';
import type { ConnectionFields } from './schemas.ts';

const loadConnectionFields = () => import('./schemas.ts').then((module) => module.ConnectionFields);

export type ConnectionRow = z.output<typeof SsoConnection>;
const FORM = 'sso-connection-form';

/** Makes or changes a connection. What the provider needs of us is shown on its card once it exists. */
export function ConnectionForm({
  open,
  connection,
  onClose,
}: {
  open: boolean;
  connection: ConnectionRow | undefined;
  onClose: () => void;
}) {
  const forbidden = useForbidden('sso:manage');
  const [dirty, setDirty] = useUnsavedIn(open);
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={connection ? connection.name : 'New connection'}
      description={connection ? undefined : 'Connect your identity provider by OpenID Connect or SAML.'}
      size="sm"
      dismissible={!dirty}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" disabledReason={forbidden}>
            {connection ? 'Save' : 'Create connection'}
          </Button>
        </>
      }
    >
      {open && (
        <Fields
          key={connection?.id ?? 'new'}
          connection={connection}
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

const valuesOf = (row: ConnectionRow): ConnectionFields => ({
  kind: row.kind,
  name: row.name,
  active: row.active,
  trust_mfa: row.trust_mfa,
  issuer: row.kind === 'oidc' ? row.issuer : '',
  client_id: row.client_id ?? '',
  client_secret: '',
  token_auth: row.token_auth,
  metadata_xml: '',
  certificates: row.certificates.map(({ pem }) => pem).join('\n'),
  allow_idp_initiated: row.allow_idp_initiated,
});
const NEW: ConnectionFields = {
  ...{ kind: 'oidc', name: '', active: true, trust_mfa: false, issuer: '', client_id: '', client_secret: '', token_auth: 'basic' },
  ...{ metadata_xml: '', certificates: '', allow_idp_initiated: false },
};
const LABELS = { name: 'Name', active: 'Active', trust_mfa: 'Trust second factor', issuer: 'Issuer', client_id: 'Client ID' };

/** Only what belongs to the kind, and of what may stay empty only what was typed. */
function inputOf({ kind, ...value }: ConnectionFields, editing: boolean) {
  const { name, active, trust_mfa } = value;
  const common = { name, active, trust_mfa };
  if (kind === 'oidc') {
    const { issuer, client_id, client_secret, token_auth } = value;
    return { ...common, issuer, client_id, token_auth, ...(client_secret === '' ? {} : { client_secret }) };
  }
  const { metadata_xml, allow_idp_initiated } = value;
  const certificates = value.certificates.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return {
    ...common,
    allow_idp_initiated,
    ...(metadata_xml === '' ? {} : { metadata_xml }),
    ...(editing && metadata_xml === '' ? { certificates } : {}),
  };
}

function Fields({
  connection,
  onDirty,
  onDone,
}: {
  connection: ConnectionRow | undefined;
  onDirty: (dirty: boolean) => void;
  onDone: () => void;
}) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const form = useZodForm({ schema: loadConnectionFields, defaultValues: connection ? valuesOf(connection) : NEW });
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, {
    row: connection,
    values: valuesOf,
    labels: LABELS,
    onNothingLeft: onDone,
  });
  const saved = async (row: { name: string }) => {
    notifyDone(connection ? 'Saved' : `${row.name} created. Test it next.`);
    await cache.invalidateQueries(trpc.sso.pathFilter());
    onDone();
  };
  const create = useMutation(trpc.sso.create.mutationOptions({ onSuccess: saved, onError: refuse }));
  const update = useMutation(trpc.sso.update.mutationOptions({ onSuccess: saved, onError: refuse }));
  useUnsavedGuard(form.formState.isDirty, onDirty);
  const kind = form.watch('kind');
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={create.isPending || update.isPending || undefined}
      onSubmit={async (value) => {
        clear();
        const call = connection
          ? update.mutateAsync({ id: connection.id, ...inputOf(value, true), expected_updated_at: started() })
          : create.mutateAsync({ kind: value.kind, ...inputOf(value, false) });
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      {!connection && (
        <Controller
          control={form.control}
          name="kind"
          render={({ field }) => (
            <RadioCards
              name="kind"
              label="Protocol"
              value={field.value}
              onValueChange={field.onChange}
              options={[
                { value: 'oidc', title: 'OpenID Connect', description: 'Recommended. Needs an issuer, a client ID and a client secret.' },
                { value: 'saml', title: 'SAML 2.0', description: 'Needs the metadata of your identity provider.' },
              ]}
            />
          )}
        />
      )}
      <Field label="Name" required error={fieldError(form, 'name')} hint="Shown to Owners and Admins only.">
        <Input placeholder="Okta" {...form.register('name')} />
      </Field>
      {kind === 'oidc' ? (
        <>
          <Field label="Issuer" required error={fieldError(form, 'issuer')} hint="Exactly as your provider shows it.">
            <Input mono placeholder="https://example.okta.com" {...form.register('issuer')} />
          </Field>
          <Field label="Client ID" required error={fieldError(form, 'client_id')}>
            <Input mono {...form.register('client_id')} />
          </Field>
          <Field
            label="Client secret"
            error={fieldError(form, 'client_secret')}
            hint={connection?.has_client_secret ? 'Stored. Leave empty to keep it.' : 'Stored encrypted and never shown again.'}
          >
            <SecretInput {...form.register('client_secret')} />
          </Field>
        </>
      ) : (
        <>
          <Field
            label="Identity provider metadata"
            required={!connection}
            error={fieldError(form, 'metadata_xml')}
            hint={
              connection
                ? 'Paste new metadata to replace address and certificates.'
                : 'Paste the XML that your provider offers for download.'
            }
          >
            <Textarea mono rows={6} spellCheck={false} {...form.register('metadata_xml')} />
          </Field>
          {connection && (
            <Field
              label="Signing certificates"
              error={fieldError(form, 'certificates')}
              hint="Any of them may sign. Before your provider changes its certificate, add the new one below the old one."
            >
              <Textarea mono rows={6} spellCheck={false} {...form.register('certificates')} />
            </Field>
          )}
          <Toggle
            form={form}
            name="allow_idp_initiated"
            label="Allow sign-in from the provider’s own page"
            description="Less safe: such a sign-in isn’t tied to a browser that asked for it."
          />
        </>
      )}
      <Toggle
        form={form}
        name="trust_mfa"
        label="Trust the provider’s second factor"
        description="If the provider says that a second factor was used, Sallyport doesn’t ask for another one at sign-in. It never confirms an action."
      />
      <Toggle form={form} name="active" label="Active" description="People can sign in with it." />
    </Form>
  );
}

type ToggleProps = {
  form: ReturnType<typeof useZodForm<typeof ConnectionFields>>;
  name: 'allow_idp_initiated' | 'trust_mfa' | 'active';
  label: string;
  description: string;
};
const Toggle = ({ form, name, label, description }: ToggleProps) => (
  <Controller
    control={form.control}
    name={name}
    render={({ field }) => <Checkbox checked={field.value} onCheckedChange={field.onChange} label={label} description={description} />}
  />
);
