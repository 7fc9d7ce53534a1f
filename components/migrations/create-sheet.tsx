'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { PROVIDER_LABELS, PROVIDERS, type ProviderName } from '#server/domain/migrations/register.shared.ts';
import { awsGrant, azureGrant, googleGrant, vaultGrant, vaultJwtGrant } from './grants.ts';

const ABOUT: Readonly<Record<ProviderName, string>> = {
  aws_sm: 'A role that we assume.',
  aws_ssm: 'A role that we assume.',
  azure_kv: 'Workload identity federation.',
  gcp_sm: 'Workload identity federation.',
  hashicorp_vault: 'Also OpenBao. A wrapping token or a JWT role.',
  env_file: 'Paste the text of a file.',
};

const NewMigration = z.object({
  provider: z.enum(PROVIDERS),
  role_arn: z.string(),
  regions: z.string(),
  azure_tenant: z.string(),
  azure_client: z.string(),
  azure_scope: z.enum(['vaults', 'subscription']),
  azure_vaults: z.string(),
  azure_subscription: z.string(),
  google_number: z.string(),
  google_pool: z.string(),
  google_provider: z.string(),
  google_account: z.string(),
  google_projects: z.string(),
  address: z.string(),
  vault_auth: z.enum(['wrapped_token', 'jwt']),
  vault_role: z.string(),
  vault_mount: z.string(),
  token: z.string(),
  mounts: z.string(),
  path_prefixes: z.string(),
  content: z.string(),
  file_name: z.string().max(200),
  review_ttl_hours: z.string().regex(/^[0-9]{1,3}$/, 'must be 1 to 720 hours'),
});
type Values = z.output<typeof NewMigration>;
type Props = { open: boolean; onClose: () => void; onCreated: (id: string) => void };

/** Store, grant, scope: what is given is checked live before anything is stored. */
export function CreateMigrationSheet({ open, onClose, onCreated }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="New migration"
      description="We check the grant first. Nothing is stored when the store can’t be read."
    >
      {open && <CreateForm onClose={onClose} onCreated={onCreated} />}
    </Sheet>
  );
}

function CreateForm({ onClose, onCreated }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const setup = useQuery(trpc.migrations.setup.queryOptions({}));
  const form = useZodForm({
    schema: NewMigration,
    defaultValues: {
      ...{ provider: 'hashicorp_vault', role_arn: '', regions: 'us-east-1', address: '', token: '', mounts: 'secret' },
      ...{ azure_tenant: '', azure_client: '', azure_scope: 'vaults', azure_vaults: '', azure_subscription: '' },
      ...{ google_number: '', google_pool: 'sallyport', google_provider: 'sallyport', google_account: '', google_projects: '' },
      ...{ vault_auth: 'wrapped_token', vault_role: 'svc-migration-reader', vault_mount: 'jwt' },
      ...{ path_prefixes: '', content: '', file_name: '.env', review_ttl_hours: '168' },
    },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.migrations.create.mutationOptions({
      onError: refuse,
      onSuccess: ({ id }) => {
        void queryClient.invalidateQueries(trpc.migrations.pathFilter());
        notifyDone('Migration started');
        onCreated(id);
      },
    }),
  );
  const values = form.watch();
  const { provider } = values;
  const aws = provider === 'aws_sm' || provider === 'aws_ssm';
  return (
    <Form
      form={form}
      onSubmit={(value) => {
        clear();
        create.mutate(inputOf(value));
      }}
      refusal={refusal}
      className="grow"
    >
      {panel}
      <Field group label="Store">
        <RadioCards
          columns={2}
          value={provider}
          onValueChange={(next) => form.setValue('provider', next, { shouldDirty: true })}
          options={PROVIDERS.map((one) => ({
            value: one,
            title: PROVIDER_LABELS[one],
            description: ABOUT[one],
          }))}
        />
      </Field>
      {aws && setup.data && (
        <>
          <CodeBlock title={`Create the role ${setup.data.role_name}`} snippets={awsGrant(setup.data, provider === 'aws_ssm')} />
          <Field label="Role ARN" required error={fieldError(form, 'role_arn')}>
            <Input mono placeholder={`arn:aws:iam::111122223333:role/${setup.data.role_name}`} {...form.register('role_arn')} />
          </Field>
          <Field label="Regions" required hint="Separated by spaces." error={fieldError(form, 'regions')}>
            <Input mono {...form.register('regions')} />
          </Field>
        </>
      )}
      {provider === 'azure_kv' && setup.data && (
        <>
          <CodeBlock title="Trust this workspace" snippets={azureGrant(setup.data.workload_identity)} />
          <Field label="Directory (tenant) ID" required error={fieldError(form, 'azure_tenant')}>
            <Input mono {...form.register('azure_tenant')} />
          </Field>
          <Field label="Application (client) ID" required error={fieldError(form, 'azure_client')}>
            <Input mono {...form.register('azure_client')} />
          </Field>
          <Field group label="Read">
            <RadioCards
              columns={2}
              value={values.azure_scope}
              onValueChange={(next) => form.setValue('azure_scope', next, { shouldDirty: true })}
              options={[
                { value: 'vaults', title: 'Named vaults' },
                { value: 'subscription', title: 'All vaults of a subscription', description: 'The application also needs Reader on it.' },
              ]}
            />
          </Field>
          {values.azure_scope === 'vaults' ? (
            <Field label="Key vaults" required hint="Names, separated by spaces." error={fieldError(form, 'azure_vaults')}>
              <Input mono {...form.register('azure_vaults')} />
            </Field>
          ) : (
            <Field label="Subscription ID" required error={fieldError(form, 'azure_subscription')}>
              <Input mono {...form.register('azure_subscription')} />
            </Field>
          )}
        </>
      )}
      {provider === 'gcp_sm' && setup.data && (
        <>
          <CodeBlock title="Trust this workspace" snippets={googleGrant(setup.data.workload_identity)} />
          <Field label="Project number" required hint="Of the project with the pool." error={fieldError(form, 'google_number')}>
            <Input mono inputMode="numeric" {...form.register('google_number')} />
          </Field>
          <Field label="Workload identity pool" required error={fieldError(form, 'google_pool')}>
            <Input mono {...form.register('google_pool')} />
          </Field>
          <Field label="Provider of the pool" required error={fieldError(form, 'google_provider')}>
            <Input mono {...form.register('google_provider')} />
          </Field>
          <Field label="Service account" required error={fieldError(form, 'google_account')}>
            <Input mono placeholder="svc-migration-reader@project.iam.gserviceaccount.com" {...form.register('google_account')} />
          </Field>
          <Field
            label="Projects"
            required
            hint="IDs of the projects to read, separated by spaces."
            error={fieldError(form, 'google_projects')}
          >
            <Input mono {...form.register('google_projects')} />
          </Field>
        </>
      )}
      {provider === 'hashicorp_vault' && (
        <>
          <Field label="Address" required error={fieldError(form, 'address')}>
            <Input mono placeholder="https://vault.example.com:8200" {...form.register('address')} />
          </Field>
          <Field label="Mounts" required hint="KV mounts, separated by spaces." error={fieldError(form, 'mounts')}>
            <Input mono {...form.register('mounts')} />
          </Field>
          <Field group label="Sign in with">
            <RadioCards
              columns={2}
              value={values.vault_auth}
              onValueChange={(next) => form.setValue('vault_auth', next, { shouldDirty: true })}
              options={[
                { value: 'wrapped_token', title: 'Wrapping token', description: 'Works once, and needs no setup.' },
                { value: 'jwt', title: 'JWT role', description: 'Vault trusts this workspace. No token is handed over.' },
              ]}
            />
          </Field>
          {values.vault_auth === 'wrapped_token' ? (
            <>
              <CodeBlock title="Create a wrapping token" snippets={vaultGrant(wordsOf(values.mounts))} />
              <Field
                label="Wrapping token"
                required
                hint="It works once: the check of the grant uses it up."
                error={fieldError(form, 'token')}
              >
                <Input mono type="password" autoComplete="off" {...form.register('token')} />
              </Field>
            </>
          ) : (
            setup.data && (
              <>
                <CodeBlock
                  title="Trust this workspace"
                  snippets={vaultJwtGrant(setup.data.workload_identity, values.address.trim().replace(/\/$/, ''), wordsOf(values.mounts))}
                />
                <Field label="Role" required error={fieldError(form, 'vault_role')}>
                  <Input mono {...form.register('vault_role')} />
                </Field>
                <Field label="Auth mount" required hint="Where the jwt method is enabled." error={fieldError(form, 'vault_mount')}>
                  <Input mono {...form.register('vault_mount')} />
                </Field>
              </>
            )
          )}
        </>
      )}
      {(provider === 'hashicorp_vault' || provider === 'aws_ssm') && (
        <Field label="Path prefixes" optional hint="Only read names that begin with one of these, separated by spaces.">
          <Input mono {...form.register('path_prefixes')} />
        </Field>
      )}
      {provider === 'env_file' && (
        <>
          <Field label="File name" required error={fieldError(form, 'file_name')}>
            <Input mono {...form.register('file_name')} />
          </Field>
          <Field
            label="Content"
            required
            hint="At most 1 MiB. It is encrypted at once, and erased when it was read."
            error={fieldError(form, 'content')}
          >
            <Textarea mono rows={8} spellCheck={false} autoComplete="off" placeholder="STRIPE_API_KEY=…" {...form.register('content')} />
          </Field>
        </>
      )}
      <Field
        label="Review deadline"
        required
        hint="Values that nobody decides about are erased after so many hours."
        error={fieldError(form, 'review_ttl_hours')}
      >
        <Input inputMode="numeric" suffix="hours" className="sm:w-40" {...form.register('review_ttl_hours')} />
      </Field>
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Check and start
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

function inputOf({ provider, review_ttl_hours, ...value }: Values) {
  const path_prefixes = wordsOf(value.path_prefixes);
  const common = { provider, review_ttl_hours: Number(review_ttl_hours) };
  if (provider === 'env_file') return { ...common, content: value.content, file_name: value.file_name };
  if (provider === 'hashicorp_vault')
    return {
      ...common,
      credentials: { address: value.address.trim(), auth: vaultAuthOf(value) },
      scope: { mounts: wordsOf(value.mounts), ...(path_prefixes.length > 0 ? { path_prefixes } : {}) },
    };
  if (provider === 'azure_kv')
    return {
      ...common,
      credentials: { tenant_id: value.azure_tenant.trim(), client_id: value.azure_client.trim() },
      scope:
        value.azure_scope === 'vaults'
          ? { vault_names: wordsOf(value.azure_vaults) }
          : { subscription_id: value.azure_subscription.trim() },
    };
  if (provider === 'gcp_sm')
    return {
      ...common,
      credentials: {
        project_number: value.google_number.trim(),
        workload_identity_pool: value.google_pool.trim(),
        workload_identity_provider: value.google_provider.trim(),
        service_account_email: value.google_account.trim(),
      },
      scope: { project_ids: wordsOf(value.google_projects) },
    };
  return {
    ...common,
    credentials: { role_arn: value.role_arn.trim() },
    scope: { regions: wordsOf(value.regions), ...(provider === 'aws_ssm' && path_prefixes.length > 0 ? { path_prefixes } : {}) },
  };
}

const vaultAuthOf = ({ vault_auth, vault_role, vault_mount, token }: Omit<Values, 'provider' | 'review_ttl_hours'>) =>
  vault_auth === 'jwt'
    ? { method: 'jwt' as const, role: vault_role.trim(), mount: vault_mount.trim() }
    : { method: 'wrapped_token' as const, token: token.trim() };
