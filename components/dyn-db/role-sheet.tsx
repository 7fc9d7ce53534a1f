'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { creationProblem, PLACEHOLDERS, revocationProblem } from '#server/domain/dyn-db/placeholders.shared.ts';
import { DEFAULT_REVOCATION, dryRun } from '#server/domain/dyn-db/templates.shared.ts';
import type { Connection, Role } from './labels.ts';
import { CUSTOM, creationOf, newRoleBody, type RoleDraft, roleChanges, roleDraftOf, roleSchema, templatesOf } from './role-draft.ts';
import { ttlText } from './ttl-text.ts';

type Props = { open: boolean; connection: Connection; role: Role | undefined; onClose: () => void };

/** Makes or changes a role: what its users may do, how they are removed, and how long they live. */
export function RoleSheet({ open, connection, role, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      size="lg"
      title={role ? `Edit ${role.name}` : 'New role'}
      description={role ? 'Applies to new users. Those that exist keep their rights until they expire.' : `On ${connection.name}`}
    >
      {open && <RoleForm key={role?.id ?? 'new'} connection={connection} role={role} onClose={onClose} />}
    </Sheet>
  );
}

const LABELS: Readonly<Record<keyof RoleDraft, string>> = {
  name: 'Name',
  template: 'Rights',
  creation_sql: 'Statements',
  revocation_sql: 'Removal',
  default_ttl_seconds: 'Default lifetime',
  max_ttl_seconds: 'Longest lifetime',
};

function RoleForm({ connection, role, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const forbidden = useForbidden('dyn_db_cred:manage_roles');
  const { engine } = connection;
  const iam = connection.execution_mode === 'iam';
  const before = roleDraftOf(role, engine);
  const form = useZodForm({ schema: roleSchema(engine, iam), defaultValues: before });
  const { refusal, panel, refuse, clear } = useFormRefusal(form, { labels: LABELS });
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const done = async (words: string) => {
    await cache.invalidateQueries(trpc.dynDb.pathFilter());
    notifyDone(words);
    onClose();
  };
  const create = useMutation(
    trpc.dynDb.create_role.mutationOptions({ onError: refuse, onSuccess: ({ name }) => done(`Role ${name} created`) }),
  );
  const update = useMutation(trpc.dynDb.update_role.mutationOptions({ onError: refuse, onSuccess: () => done('Role saved') }));
  const values = form.watch() as RoleDraft;
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={(value) => {
        clear();
        if (role) update.mutate({ connection: connection.name, role: role.name, ...roleChanges(value, before, iam) });
        else create.mutate({ connection: connection.name, ...newRoleBody(value, iam) });
      }}
    >
      {panel}
      {!role && (
        <Field
          label="Name"
          required
          error={fieldError(form, 'name')}
          hint="Callers use it in URLs, and users carry it in their names. It can’t be changed."
        >
          <Input mono placeholder="readonly" autoComplete="off" {...form.register('name')} />
        </Field>
      )}
      {iam ? (
        <Callout title={`Tokens are signed for ${connection.iam_db_user}`}>
          No user is created: its rights are those it has in the database. Tokens live 15 minutes at most.
        </Callout>
      ) : (
        <StatementFields form={form} connection={connection} values={values} />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Default lifetime"
          optional
          error={fieldError(form, 'default_ttl_seconds')}
          hint="Such as 15m, 8h or 7d. Leave empty to inherit."
        >
          <Input placeholder={ttlText(connection.default_ttl_seconds)} {...form.register('default_ttl_seconds')} />
        </Field>
        <Field
          label="Longest lifetime"
          optional
          error={fieldError(form, 'max_ttl_seconds')}
          hint="Renewals included. Never longer than the connection’s."
        >
          <Input placeholder={ttlText(connection.max_ttl_seconds)} {...form.register('max_ttl_seconds')} />
        </Field>
      </div>
      <ApiEquivalent
        method={role ? 'PATCH' : 'POST'}
        path={role ? `/dyn-db-credentials/${connection.name}/roles/${role.name}` : `/dyn-db-credentials/${connection.name}/roles`}
        body={role ? roleChanges(values, before, iam) : newRoleBody({ ...values, name: values.name || 'NAME' }, iam)}
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
            disabledReason={forbidden ?? (role && !dirty ? 'No changes to save' : undefined)}
          >
            {role ? 'Save' : 'Create role'}
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}

type FieldsProps = { form: ReturnType<typeof useZodForm<ReturnType<typeof roleSchema>>>; connection: Connection; values: RoleDraft };

function StatementFields({ form, connection, values }: FieldsProps) {
  const { engine } = connection;
  const mongo = engine === 'mongo';
  const custom = values.template === CUSTOM;
  const creation = creationOf(values, engine);
  const choose = (template: string) => {
    // Its own statements begin as those of the template that was chosen before.
    if (template === CUSTOM && values.creation_sql.trim() === '') form.setValue('creation_sql', creation, { shouldDirty: true });
    form.setValue('template', template, { shouldDirty: true });
  };
  return (
    <>
      <Field group label="Rights">
        <RadioCards
          columns={3}
          value={values.template}
          onValueChange={choose}
          options={[
            ...templatesOf(engine).map(({ name, label, description }) => ({ value: name, title: label, description })),
            { value: CUSTOM, title: 'Custom', description: mongo ? 'Your own document of rights.' : 'Your own statements.' },
          ]}
        />
      </Field>
      {custom ? (
        <Field
          label={mongo ? 'Document' : 'Statements'}
          required
          error={
            fieldError(form, 'creation_sql') ?? (creation.trim() === '' ? undefined : (creationProblem(creation, engine) ?? undefined))
          }
          hint={
            mongo
              ? 'Arguments of createUser: roles, mechanisms, authenticationRestrictions, customData.'
              : `Placeholders: ${PLACEHOLDERS.map((name) => `{{${name}}}`).join(', ')}. Separate statements with semicolons.`
          }
        >
          <Textarea mono rows={9} spellCheck={false} autoComplete="off" {...form.register('creation_sql')} />
        </Field>
      ) : null}
      <DryRun
        title={mongo ? 'What is run for a new user' : 'Statements for a new user'}
        text={creation}
        problem={creationProblem(creation, engine)}
        connection={connection}
        role={values.name}
      />
      {!mongo && (
        <>
          <Field
            label="Removal"
            optional
            error={fieldError(form, 'revocation_sql')}
            hint="Statements that remove a user. Leave empty for the built-in removal, which also ends its sessions."
          >
            <Textarea
              mono
              rows={4}
              spellCheck={false}
              autoComplete="off"
              placeholder={DEFAULT_REVOCATION[engine]}
              {...form.register('revocation_sql')}
            />
          </Field>
          {values.revocation_sql.trim() !== '' && (
            <DryRun
              title="Statements for its removal"
              text={values.revocation_sql}
              problem={revocationProblem(values.revocation_sql, engine)}
              connection={connection}
              role={values.name}
            />
          )}
        </>
      )}
    </>
  );
}

type DryRunProps = { title: string; text: string; problem: string | null; connection: Connection; role: string };

/** The statements with a user that doesn't exist filled in. */
function DryRun({ title, text, problem, connection, role }: DryRunProps) {
  const { engine, database_name } = connection;
  if (text.trim() === '' || problem) return null;
  const known = /^[a-z0-9][a-z0-9_-]{0,62}$/.test(role) ? { role } : {};
  const statements = rendered(() => dryRun(text, engine, { ...known, ...(database_name ? { database: database_name } : {}) }));
  if (!statements)
    return (
      <Callout tone="warn" title="A value with two hyphens would begin a comment">
        Put placeholders in quotes.
      </Callout>
    );
  const code = engine === 'mongo' ? statements.join('\n') : statements.map((statement) => `${statement};`).join('\n\n');
  return (
    <CodeBlock
      wrap
      title={`${title}, with an example user`}
      snippets={[{ id: 'dry', label: title, language: engine === 'mongo' ? 'json' : 'text', code }]}
    />
  );
}

function rendered(run: () => string[]): string[] | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
