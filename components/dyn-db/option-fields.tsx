'use client';

import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { fieldError, type ZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { DEFAULT_PORTS, type Engine } from '#server/domain/dyn-db/engines.shared.ts';
import { SSL_MODES } from '#server/domain/dyn-db/schema.ts';
import type { Target } from './connection-draft.ts';

const SSL_LABELS: Readonly<Record<(typeof SSL_MODES)[number], string>> = {
  disable: 'Off (Test or tunnels only)',
  require: 'Encrypt',
  'verify-ca': 'Encrypt, check the certificate',
  'verify-full': 'Encrypt, check certificate and host name',
};

/** Forms that make and edit a connection have these fields among others. */
export type TargetForm = ZodForm<Target>;
type Props = { form: TargetForm; engine: Engine; iam: boolean; readOnly?: boolean };

/** Where the database is. */
export function AddressFields({ form, engine, readOnly = false }: Props) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[1fr_8rem]">
        <Field
          label="Host"
          required
          error={fieldError(form, 'host')}
          hint={engine === 'mongo' ? 'A name, an SRV name, or a list such as db1:27017,db2:27017.' : undefined}
        >
          <Input mono placeholder="db.example.com" autoComplete="off" readOnly={readOnly} {...form.register('host')} />
        </Field>
        <Field label="Port" optional error={fieldError(form, 'port')}>
          <Input inputMode="numeric" placeholder={String(DEFAULT_PORTS[engine])} readOnly={readOnly} {...form.register('port')} />
        </Field>
      </div>
      <Field label="Database" optional error={fieldError(form, 'database_name')} hint="Roles of the built-in templates get rights on it.">
        <Input mono placeholder="app" autoComplete="off" readOnly={readOnly} {...form.register('database_name')} />
      </Field>
    </>
  );
}

/** How it is connected to, and how long its users live. */
export function OptionFields({ form, engine, iam, readOnly = false }: Props) {
  const { sslmode, tls, srv } = form.watch();
  const set = (field: 'tls' | 'srv', on: boolean) => form.setValue(field, on, { shouldDirty: true });
  const verifies = engine === 'mongo' ? tls : sslmode.startsWith('verify');
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Default lifetime"
          required
          error={fieldError(form, 'default_ttl_seconds')}
          hint="Of a user that no lifetime is asked for."
        >
          <Input readOnly={readOnly} {...form.register('default_ttl_seconds')} />
        </Field>
        <Field label="Longest lifetime" required error={fieldError(form, 'max_ttl_seconds')} hint="Renewals included.">
          <Input readOnly={readOnly} {...form.register('max_ttl_seconds')} />
        </Field>
      </div>
      {engine === 'mongo' ? (
        <div className="flex flex-col gap-2">
          <Checkbox checked={tls} disabled={readOnly} onCheckedChange={(on) => set('tls', on)} label="Encrypt with TLS" />
          <Checkbox
            checked={srv}
            disabled={readOnly}
            onCheckedChange={(on) => set('srv', on)}
            label="The host is an SRV name"
            description="mongodb+srv://"
          />
        </div>
      ) : (
        <Field label="TLS">
          <Select
            value={sslmode}
            disabled={readOnly}
            onValueChange={(mode) => form.setValue('sslmode', mode, { shouldDirty: true })}
            options={SSL_MODES.map((value) => ({ value, label: SSL_LABELS[value] }))}
          />
        </Field>
      )}
      {verifies && (
        <Field
          label="CA certificates"
          optional
          error={fieldError(form, 'ca_cert_pem')}
          hint="PEM. For servers with certificates of a private authority."
        >
          <Textarea
            mono
            rows={4}
            spellCheck={false}
            readOnly={readOnly}
            placeholder="-----BEGIN CERTIFICATE-----"
            {...form.register('ca_cert_pem')}
          />
        </Field>
      )}
      {engine === 'mongo' && (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Authentication database" optional error={fieldError(form, 'auth_source')} hint="Where the admin user was created.">
            <Input mono placeholder="admin" readOnly={readOnly} {...form.register('auth_source')} />
          </Field>
          <Field label="Replica set" optional error={fieldError(form, 'replica_set')}>
            <Input mono readOnly={readOnly} {...form.register('replica_set')} />
          </Field>
        </div>
      )}
      {engine === 'mysql' && !iam && (
        <Field label="Hosts of created users" optional error={fieldError(form, 'user_host')} hint="The part after @ in their accounts.">
          <Input mono placeholder="%" readOnly={readOnly} {...form.register('user_host')} />
        </Field>
      )}
      {iam && (
        <Field
          label="Role to assume"
          required
          error={fieldError(form, 'role_arn')}
          hint="In the account of the database. It trusts this installation with the external ID of the workspace."
        >
          <Input mono placeholder="arn:aws:iam::123456789012:role/db" readOnly={readOnly} {...form.register('role_arn')} />
        </Field>
      )}
    </>
  );
}
