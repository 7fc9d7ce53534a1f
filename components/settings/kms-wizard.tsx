'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Controller } from 'react-hook-form';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm, type ZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { PROVIDERS, SUGGESTED } from '#server/domain/keys/providers.shared.ts';
import { ASK_OPERATOR, type Identity, inputOf, type KmsFields, stepsOf } from './kms-steps.ts';

const loadForm = () => import('./kms-fields.ts').then((module) => module.KmsForm);
const FORM = 'kms-form';
const NEW: KmsFields = {
  ...{ provider: 'aws', kms_key_ref: '', region: '', role_arn: '', impersonate_service_account: '' },
  ...{ vault_url: '', azure_tenant_id: '', client_id: '', client_secret_env_var: '' },
};

type Text = { name: Exclude<keyof KmsFields, 'provider'>; label: string; placeholder: string; optional?: string };
const FIELDS: Record<KmsFields['provider'], readonly Text[]> = {
  aws: [
    { name: 'kms_key_ref', label: 'Key ARN', placeholder: 'arn:aws:kms:eu-central-1:111122223333:key/…' },
    { name: 'region', label: 'Region', placeholder: 'eu-central-1' },
    { name: 'role_arn', label: 'Role ARN', placeholder: `arn:aws:iam::111122223333:role/${SUGGESTED.role}` },
  ],
  gcp: [
    { name: 'kms_key_ref', label: 'Key', placeholder: 'projects/…/locations/…/keyRings/…/cryptoKeys/…' },
    {
      name: 'impersonate_service_account',
      label: 'Service account',
      placeholder: `${SUGGESTED.service_account}@project.iam.gserviceaccount.com`,
    },
  ],
  azure: [
    { name: 'kms_key_ref', label: 'Key', placeholder: `https://acme-kv.vault.azure.net/keys/${SUGGESTED.key}` },
    { name: 'vault_url', label: 'Vault URL', placeholder: 'https://acme-kv.vault.azure.net' },
    { name: 'azure_tenant_id', label: 'Directory (tenant) ID', placeholder: 'GUID', optional: 'Leave empty to use a managed identity.' },
    { name: 'client_id', label: 'Application (client) ID', placeholder: 'GUID', optional: 'Leave empty to use a managed identity.' },
    {
      name: 'client_secret_env_var',
      label: 'Variable with the client secret',
      placeholder: 'AZURE_BYOK_ACME',
      optional: 'Name of an environment variable on the server. The secret itself is never entered here.',
    },
  ],
};

/** Puts the workspace's key under a KMS of the customer: what to run there, and where the key is. */
export function KmsWizard({ open, replacing, onClose }: { open: boolean; replacing: boolean; onClose: () => void }) {
  const [dirty, setDirty] = useUnsavedIn(open);
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={replacing ? 'Use another KMS key' : 'Use your own KMS'}
      description="Grant this installation access to one key. Before anything is saved, a test value is wrapped and unwrapped."
      size="md"
      dismissible={!dirty}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter">
            Verify and use key
          </Button>
        </>
      }
    >
      {open && <Wizard onDirty={setDirty} onClose={onClose} />}
    </Sheet>
  );
}

function Wizard({ onDirty, onClose }: { onDirty: (dirty: boolean) => void; onClose: () => void }) {
  const trpc = useTRPC();
  const setup = useQuery(trpc.tenantKeys.setup.queryOptions({}));
  if (setup.isError) return <QueryError query={setup} what="What to grant" />;
  if (!setup.data) return <Skeleton lines={6} label="Loading what to grant" />;
  const { external_id, operator_identity } = setup.data;
  return <Fields externalId={external_id} identity={operator_identity} onDirty={onDirty} onClose={onClose} />;
}

type FieldsProps = { externalId: string; identity: Identity; onDirty: (dirty: boolean) => void; onClose: () => void };

function Fields({ externalId, identity, onDirty, onClose }: FieldsProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const form = useZodForm({ schema: loadForm, defaultValues: NEW });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty, onDirty);
  const onboard = useMutation(
    trpc.tenantKeys.onboard.mutationOptions({
      onSuccess: async ({ new_key_version }) => {
        notifyDone(`Version ${new_key_version} is under your key. Stored values follow in the background.`);
        onDirty(false);
        await cache.invalidateQueries(trpc.tenantKeys.pathFilter());
        onClose();
      },
      onError: refuse,
    }),
  );
  const fields = form.watch();
  const steps = stepsOf(fields, externalId, identity);
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={onboard.isPending || undefined}
      onSubmit={async (value) => {
        clear();
        await onboard.mutateAsync(inputOf(value)).then(undefined, () => undefined);
      }}
    >
      {panel}
      <Controller
        control={form.control}
        name="provider"
        render={({ field }) => (
          <RadioCards
            label="Provider"
            columns={3}
            value={field.value}
            onValueChange={field.onChange}
            options={Object.entries(PROVIDERS).map(([value, title]) => ({ value: value as KmsFields['provider'], title }))}
          />
        )}
      />
      <section className="flex flex-col gap-2">
        <h3 className="font-medium">1. In your account</h3>
        <CodeBlock key={fields.provider} snippets={steps} />
        {steps.some(({ code }) => code.includes(ASK_OPERATOR)) && (
          <Callout tone="warn" title="This installation hasn’t been told its own identity">
            Ask its operator for it, and replace {ASK_OPERATOR}. They can set it as KMS_AWS_ACCOUNT_ID, KMS_GCP_PRINCIPAL or
            KMS_AZURE_APP_ID.
          </Callout>
        )}
      </section>
      <h3 className="font-medium">2. Here</h3>
      {FIELDS[fields.provider].map((text) => (
        <TextField key={text.name} form={form} {...text} />
      ))}
    </Form>
  );
}

function TextField({ form, name, label, placeholder, optional }: Text & { form: ZodForm<KmsFields, KmsFields> }) {
  return (
    <Field label={label} hint={optional} optional={optional !== undefined} error={fieldError(form, name)}>
      <Input mono placeholder={placeholder} autoComplete="off" spellCheck={false} {...form.register(name)} />
    </Field>
  );
}
