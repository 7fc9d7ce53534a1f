'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Select } from '#components/ui/select.tsx';
import { SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { OAUTH2_GRANTS, OAUTH2_PROVIDERS, secretName } from '#server/domain/secrets/schema.ts';

const NewConnection = z.object({
  name: secretName(),
  provider: z.enum(OAUTH2_PROVIDERS),
  grant_type: z.enum(OAUTH2_GRANTS),
  client_id: z.string().trim().min(1, 'Enter the client ID.').max(512),
  client_secret: z.string().max(4_096),
  username: z.string().max(512),
  password: z.string().max(4_096),
  scopes: z.string(),
  auth_url: z.string().max(2_048),
  token_url: z.string().max(2_048),
});

const PROVIDERS = [
  { value: 'google', label: 'Google' },
  { value: 'github', label: 'GitHub' },
  { value: 'salesforce', label: 'Salesforce' },
  { value: 'microsoft', label: 'Microsoft' },
  { value: 'slack', label: 'Slack' },
  { value: 'custom', label: 'Another provider' },
];
const GRANTS = [
  { value: 'authorization_code', label: 'Authorization code: a person consents' },
  { value: 'client_credentials', label: 'Client credentials: no person' },
  { value: 'password', label: 'Password: a user of the provider' },
  { value: 'implicit', label: 'Implicit (obsolete)' },
];

/** Makes a connection: at once where no browser is needed, else the page of the secret leads to the provider. */
export function CreateConnectionForm({ onDone }: { onDone: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const form = useZodForm({
    schema: NewConnection,
    defaultValues: {
      ...{ name: '', provider: 'custom', grant_type: 'authorization_code', client_id: '', client_secret: '' },
      ...{ username: '', password: '', scopes: '', auth_url: '', token_url: '' },
    } as z.input<typeof NewConnection>,
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.secrets.createOauth2.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: ({ id, name, connection_status }) => {
        void queryClient.invalidateQueries(trpc.secrets.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(connection_status === 'connected' ? `${name} connected` : `${name} created. Authorize it next.`);
        router.replace(path(`/secrets/${id}`));
      },
    }),
  );
  const values = form.watch();
  const { provider, grant_type: grant } = values;
  const custom = provider === 'custom';
  const byBrowser = grant === 'authorization_code' || grant === 'implicit';
  const submit = (value: z.output<typeof NewConnection>) => {
    clear();
    const scopes = value.scopes.split(/[\s,]+/).filter((scope) => scope !== '');
    const given = (text: string) => (text.trim() === '' ? undefined : text.trim());
    create.mutate({
      name: value.name,
      provider: value.provider,
      grant_type: value.grant_type,
      client_id: value.client_id,
      client_secret: value.client_secret === '' ? undefined : value.client_secret,
      ...(grant === 'password' ? { username: value.username, password: value.password } : {}),
      ...(scopes.length > 0 ? { scopes } : {}),
      ...(custom && byBrowser ? { auth_url: given(value.auth_url) } : {}),
      ...(custom && grant !== 'implicit' ? { token_url: given(value.token_url) } : {}),
    });
  };
  return (
    <Form form={form} onSubmit={submit} refusal={refusal} className="grow">
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input mono placeholder="CRM" autoComplete="off" {...form.register('name')} />
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Provider">
          <Select options={PROVIDERS} value={provider} onValueChange={(next) => form.setValue('provider', next as typeof provider)} />
        </Field>
        <Field label="Grant">
          <Select options={GRANTS} value={grant} onValueChange={(next) => form.setValue('grant_type', next as typeof grant)} />
        </Field>
      </div>
      {grant === 'implicit' && (
        <Callout tone="warn" title="This grant is obsolete">
          There is no refresh, so the connection ends with its token. Use the authorization code where the provider offers it.
        </Callout>
      )}
      <Field label="Client ID" required error={fieldError(form, 'client_id')}>
        <Input mono autoComplete="off" {...form.register('client_id')} />
      </Field>
      {grant !== 'implicit' && (
        <Field label="Client secret" optional={grant === 'password'} error={fieldError(form, 'client_secret')}>
          <SecretInput {...form.register('client_secret')} />
        </Field>
      )}
      {grant === 'password' && (
        <div className="grid gap-5 sm:grid-cols-2">
          <Field label="User name" required error={fieldError(form, 'username')}>
            <Input autoComplete="off" {...form.register('username')} />
          </Field>
          <Field label="Password" required error={fieldError(form, 'password')}>
            <SecretInput {...form.register('password')} />
          </Field>
        </div>
      )}
      {custom && byBrowser && (
        <Field label="Authorization URL" required error={fieldError(form, 'auth_url')}>
          <Input mono placeholder="https://login.example.com/authorize" {...form.register('auth_url')} />
        </Field>
      )}
      {custom && grant !== 'implicit' && (
        <Field label="Token URL" required error={fieldError(form, 'token_url')}>
          <Input mono placeholder="https://login.example.com/token" {...form.register('token_url')} />
        </Field>
      )}
      <Field
        label="Scopes"
        optional
        error={fieldError(form, 'scopes')}
        hint="Separated by spaces. Leave empty for those the provider recommends."
      >
        <Input mono {...form.register('scopes')} />
      </Field>
      <ApiEquivalent
        method="POST"
        path="/secrets/oauth2"
        body={{ name: values.name || 'NAME', provider, grant_type: grant, client_id: values.client_id || '…', client_secret: '…' }}
      />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onDone}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Create connection
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
