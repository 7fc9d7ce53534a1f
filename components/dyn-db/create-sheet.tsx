'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { ENGINE_LABELS, ENGINES } from '#server/domain/dyn-db/engines.shared.ts';
import type { ExecutionMode } from '#server/domain/dyn-db/schema.ts';
import { bodyOf, type Draft, EMPTY, NewConnection } from './connection-draft.ts';
import { GrantsBlock } from './grants-block.tsx';
import { MODE_ORDER, MODES } from './labels.ts';
import { AddressFields, OptionFields, type TargetForm } from './option-fields.tsx';
import { TestConnection } from './test-connection.tsx';

type Props = { open: boolean; onClose: () => void; onDone: (name: string) => void };

/** From a database to a connection that was tested: how it is reached, who the service is there, and whether that works. */
export function CreateConnectionSheet({ open, onClose, onDone }: Props) {
  const [created, setCreated] = useState<Draft>();
  const close = () => {
    setCreated(undefined);
    onClose();
  };
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || close()}
      dismissible={false}
      size="lg"
      title={created ? 'Test the connection' : 'New database connection'}
      description={
        created
          ? `${created.name} is stored. Its password and keys are never shown again.`
          : 'The service logs in as an admin user that creates and drops users, and nothing else.'
      }
    >
      {!open ? null : created ? (
        <Tested draft={created} onDone={() => onDone(created.name)} />
      ) : (
        <CreateForm onClose={close} onCreated={setCreated} />
      )}
    </Sheet>
  );
}

function CreateForm({ onClose, onCreated }: { onClose: () => void; onCreated: (draft: Draft) => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const form = useZodForm({ schema: NewConnection, defaultValues: EMPTY });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.dynDb.create.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: ({ name }) => {
        const draft = form.getValues();
        form.reset({ ...EMPTY });
        void cache.invalidateQueries(trpc.dynDb.pathFilter());
        void cache.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Connection ${name} created`);
        // Nothing of the page keeps what was secret.
        onCreated({ ...draft, admin_password: '', ssh_private_key: '', ssh_passphrase: '' });
      },
    }),
  );
  const values = form.watch() as Draft;
  const { engine, execution_mode: mode } = values;
  const iam = mode === 'iam';
  const target = form as unknown as TargetForm;
  const choose = (next: string) => form.setValue('execution_mode', next as Draft['execution_mode'], { shouldDirty: true });
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={(value) => {
        clear();
        create.mutate(bodyOf(value));
      }}
    >
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')} hint="Callers use it in URLs. It can’t be changed.">
        <Input mono placeholder="orders" autoComplete="off" {...form.register('name')} />
      </Field>
      <Field label="Engine" hint="It can’t be changed.">
        <Select
          value={engine}
          onValueChange={(next) => {
            form.setValue('engine', next, { shouldDirty: true });
            if (next === 'mssql' || next === 'mongo') if (mode === 'iam') choose('direct');
          }}
          options={ENGINES.map((value) => ({ value, label: ENGINE_LABELS[value] }))}
        />
      </Field>
      <Field group label="How is the database reached?">
        <RadioCards
          columns={2}
          value={mode as ExecutionMode}
          onValueChange={choose}
          options={MODE_ORDER.map((value) => {
            const reason = reasonAgainst(value, engine);
            return { value, title: MODES[value].title, description: MODES[value].when, ...(reason ? { disabledReason: reason } : {}) };
          })}
        />
      </Field>
      <AddressFields form={target} engine={engine} iam={iam} />
      {iam ? (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Region" required error={fieldError(form, 'iam_region')}>
            <Input mono placeholder="eu-central-1" {...form.register('iam_region')} />
          </Field>
          <Field
            label="Database user"
            required
            error={fieldError(form, 'iam_db_user')}
            hint="Tokens are signed for it. No user is created."
          >
            <Input mono placeholder="app_user" autoComplete="off" {...form.register('iam_db_user')} />
          </Field>
        </div>
      ) : (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Admin user" required error={fieldError(form, 'admin_username')}>
            <Input mono placeholder="sallyport" autoComplete="off" {...form.register('admin_username')} />
          </Field>
          <Field label="Admin password" required error={fieldError(form, 'admin_password')} hint="Encrypted, and never shown again.">
            <SecretInput {...form.register('admin_password')} />
          </Field>
        </div>
      )}
      <GrantsBlock
        engine={engine}
        iam={iam}
        username={iam ? values.iam_db_user : values.admin_username}
        database={values.database_name}
        region={values.iam_region}
      />
      {mode === 'ssh_tunnel' && <SshFields form={form} />}
      {mode === 'agent_tunnel' && <AgentField form={form} />}
      <OptionFields form={target} engine={engine} iam={iam} />
      <ApiEquivalent method="POST" path="/dyn-db-credentials" body={masked(values)} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Create connection
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}

function reasonAgainst(mode: ExecutionMode, engine: Draft['engine']): string | undefined {
  if (mode === 'iam' && (engine === 'mssql' || engine === 'mongo')) return 'Only for PostgreSQL and MySQL on Amazon RDS';
  return undefined;
}

/** The call as it will be, with marks where secrets stand. */
const masked = (values: Draft) => {
  const { ssh_passphrase, ...body } = bodyOf({
    ...values,
    name: values.name || 'NAME',
    admin_password: 'ADMIN_PASSWORD',
    ssh_private_key: 'PRIVATE_KEY',
  });
  return ssh_passphrase === undefined ? body : { ...body, ssh_passphrase: 'PASSPHRASE' };
};

/** Agents that weren't revoked; one that is offline can be chosen, since it may be started later. */
function AgentField({ form }: { form: ReturnType<typeof useZodForm<typeof NewConnection>> }) {
  const trpc = useTRPC();
  const path = usePath();
  const { data } = useQuery(trpc.agents.list.queryOptions({}));
  const agents = (data?.data ?? []).filter(({ status }) => status === 'active');
  const error = fieldError(form, 'agent_id');
  return (
    <Field
      label="Agent"
      required
      error={error}
      hint={
        agents.length > 0 ? (
          'It must run in the network of the database. The host name means what it means there.'
        ) : (
          <>
            This space has no agent yet.{' '}
            <Link href={path('/agents?open=new')} className={textLink}>
              Create one
            </Link>{' '}
            first.
          </>
        )
      }
    >
      <Select
        value={form.watch('agent_id')}
        placeholder="Choose an agent"
        disabled={agents.length === 0}
        onValueChange={(next) => form.setValue('agent_id', next, { shouldDirty: true, shouldValidate: true })}
        options={agents.map(({ id, name, connectivity }) => ({
          value: id,
          label: connectivity === 'online' ? name : `${name} (${connectivity.replace('_', ' ')})`,
        }))}
      />
    </Field>
  );
}

function SshFields({ form }: { form: ReturnType<typeof useZodForm<typeof NewConnection>> }) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[1fr_8rem_1fr]">
        <Field label="Jump host" required error={fieldError(form, 'ssh_host')}>
          <Input mono placeholder="bastion.example.com" autoComplete="off" {...form.register('ssh_host')} />
        </Field>
        <Field label="SSH port" optional error={fieldError(form, 'ssh_port')}>
          <Input inputMode="numeric" placeholder="22" {...form.register('ssh_port')} />
        </Field>
        <Field label="SSH user" required error={fieldError(form, 'ssh_username')}>
          <Input mono autoComplete="off" {...form.register('ssh_username')} />
        </Field>
      </div>
      <Field
        label="SSH private key"
        required
        error={fieldError(form, 'ssh_private_key')}
        hint="Ed25519, ECDSA, or RSA of 2048 bits and more. Encrypted, and never shown again."
      >
        <Textarea
          mono
          rows={4}
          spellCheck={false}
          autoComplete="off"
          placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
          {...form.register('ssh_private_key')}
        />
      </Field>
      <Field label="Passphrase" optional error={fieldError(form, 'ssh_passphrase')} hint="If the key is encrypted.">
        <SecretInput {...form.register('ssh_passphrase')} />
      </Field>
      <Field
        label="Host key fingerprint"
        optional
        error={fieldError(form, 'ssh_host_fingerprint')}
        hint="Leave empty to pin the key that the host shows first. Another one is never accepted by itself."
      >
        <Input mono placeholder="SHA256:…" autoComplete="off" {...form.register('ssh_host_fingerprint')} />
      </Field>
    </>
  );
}

function Tested({ draft, onDone }: { draft: Draft; onDone: () => void }) {
  return (
    <div className="flex grow flex-col gap-4">
      <Callout title="The connection works without this test too">
        A database that isn’t reachable yet can be tested later on the page of the connection.
      </Callout>
      <TestConnection
        connection={{
          name: draft.name,
          engine: draft.engine,
          execution_mode: draft.execution_mode,
          admin_username: draft.admin_username || null,
          iam_db_user: draft.iam_db_user || null,
          database_name: draft.database_name || null,
          iam_region: draft.iam_region || null,
        }}
      />
      <SheetFooter>
        <Button variant="primary" className="ml-auto" onClick={onDone}>
          Add roles
        </Button>
      </SheetFooter>
    </div>
  );
}
