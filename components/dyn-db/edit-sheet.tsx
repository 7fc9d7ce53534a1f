'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { counted } from '#components/ui/numbers.ts';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { ConnectionTarget, changesOf, type Target, targetOf } from './connection-draft.ts';
import type { Connection } from './labels.ts';
import { AddressFields, OptionFields } from './option-fields.tsx';

const LABELS: Readonly<Record<keyof Target, string>> = {
  host: 'Host',
  port: 'Port',
  database_name: 'Database',
  admin_username: 'Admin user',
  sslmode: 'TLS',
  tls: 'Encrypt with TLS',
  srv: 'SRV name',
  ca_cert_pem: 'CA certificates',
  auth_source: 'Authentication database',
  replica_set: 'Replica set',
  user_host: 'Hosts of created users',
  role_arn: 'Role to assume',
  default_ttl_seconds: 'Default lifetime',
  max_ttl_seconds: 'Longest lifetime',
};

type Props = { open: boolean; connection: Connection; onClose: () => void };

/** Changes how a database is reached and how long its users live. */
export function EditConnectionSheet({ open, connection, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      size="lg"
      title={`Edit ${connection.name}`}
      description="Name, engine and mode can’t be changed."
    >
      {open && <EditForm connection={connection} onClose={onClose} />}
    </Sheet>
  );
}

function EditForm({ connection, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const forbidden = useForbidden('dyn_db_cred:update');
  const readOnly = forbidden !== undefined;
  const form = useZodForm({ schema: ConnectionTarget, defaultValues: targetOf(connection) });
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, { row: connection, values: targetOf, labels: LABELS });
  // Not a value of the form: what another person saved meanwhile is compared with those in clear.
  const [password, setPassword] = useState('');
  const dirty = form.formState.isDirty || password !== '';
  useUnsavedGuard(dirty);
  const update = useMutation(
    trpc.dynDb.update.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: async () => {
        await cache.invalidateQueries(trpc.dynDb.pathFilter());
        notifyDone('Connection saved');
        onClose();
      },
    }),
  );
  const before = targetOf(connection);
  const values = form.watch() as Target;
  const iam = connection.execution_mode === 'iam';
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={(value) => {
        clear();
        update.mutate({
          connection: connection.name,
          ...changesOf(value, before, connection),
          ...(password === '' ? {} : { admin_password: password }),
          expected_updated_at: started(),
        });
      }}
    >
      {panel}
      {connection.live_leases > 0 && (
        <Callout title={`${counted(connection.live_leases, 'user')} on the server`}>
          Host, port and database can be changed only while no lease is live: the users couldn’t be removed any more.
        </Callout>
      )}
      <AddressFields form={form} engine={connection.engine} iam={iam} readOnly={readOnly || connection.live_leases > 0} />
      {!iam && (
        <Field label="Admin user" required error={fieldError(form, 'admin_username')}>
          <Input mono autoComplete="off" readOnly={readOnly} {...form.register('admin_username')} />
        </Field>
      )}
      {!iam && (
        <Field
          label="Admin password"
          optional
          hint="Leave empty to keep it. To send the stored one to another host, port or agent, or with weaker TLS, confirm it’s you."
        >
          <SecretInput value={password} readOnly={readOnly} onChange={(event) => setPassword(event.target.value)} />
        </Field>
      )}
      <OptionFields form={form} engine={connection.engine} iam={iam} readOnly={readOnly} />
      <ApiEquivalent
        method="PATCH"
        path={`/dyn-db-credentials/${connection.name}`}
        body={{ ...changesOf(values, before, connection), ...(password === '' ? {} : { admin_password: 'ADMIN_PASSWORD' }) }}
      />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            keys="mod+enter"
            loading={update.isPending}
            disabledReason={forbidden ?? (dirty ? undefined : 'No changes to save')}
          >
            Save
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
