'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { MultiCombobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm, type ZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { isNarrowable } from '#server/domain/policies/narrowing.shared.ts';
import { KEY_ROLES, MEMBER_ROLES } from '#server/domain/roles/catalogue.shared.ts';
import { PolicyDenials } from './policy-denials.tsx';
import { PolicyEffect } from './policy-effect.tsx';
import type { PolicyRow } from './policy-list.tsx';
import { ACTION_OPTIONS, policyInWords, roleLabel, TEMPLATES } from './policy-words.ts';
import { useCandidates } from './use-candidates.ts';

const FORM = 'policy-form';

const PolicyForm = z.object({
  name: z.string().trim().min(1, 'Enter a name.').max(100),
  who: z.enum(['all', 'some']),
  roles: z.array(z.string()),
  user_ids: z.array(z.string()),
  api_key_ids: z.array(z.string()),
  oauth_client_ids: z.array(z.string()),
  actions: z.array(z.string()).min(1, 'Choose at least one action.'),
  /** One ID or name pattern per line. */
  resources: z.string(),
  space: z.enum(['both', 'live', 'test']),
  reason: z.string().max(500),
  enabled: z.boolean(),
});
type Values = z.output<typeof PolicyForm>;

const EMPTY: Values = {
  name: '',
  who: 'some',
  roles: [],
  user_ids: [],
  api_key_ids: [],
  oauth_client_ids: [],
  actions: [],
  resources: '',
  space: 'both',
  reason: '',
  enabled: true,
};

const valuesOf = ({
  subjects,
  resources,
  reason,
  ...row
}: Pick<PolicyRow, 'name' | 'subjects' | 'actions' | 'resources' | 'space' | 'reason' | 'enabled'>): Values => ({
  name: row.name,
  who: subjects.all ? 'all' : 'some',
  roles: subjects.roles,
  user_ids: subjects.user_ids,
  api_key_ids: subjects.api_key_ids,
  oauth_client_ids: subjects.oauth_client_ids,
  actions: row.actions,
  resources: (resources ?? []).join('\n'),
  space: row.space,
  reason: reason ?? '',
  enabled: row.enabled,
});

/** The body that the form sends. */
const inputOf = ({ who, roles, user_ids, api_key_ids, oauth_client_ids, resources, reason, ...rest }: Values) => {
  const patterns = resources
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return {
    ...rest,
    subjects: who === 'all' ? { all: true } : { roles, user_ids, api_key_ids, oauth_client_ids },
    resources: patterns.length > 0 ? patterns : null,
    reason: reason.trim() || null,
  };
};

/** Makes a policy, or changes one and shows whom it denied. */
export function PolicySheet({ id, onClose }: { id: string | null; onClose: () => void }) {
  const trpc = useTRPC();
  const readOnly = useForbidden('policy:update');
  const isNew = id === 'new';
  const query = useQuery(trpc.policies.get.queryOptions({ id: id ?? '' }, { enabled: id !== null && !isNew }));
  const [dirty, setDirty] = useUnsavedIn(id !== null);
  const policy = isNew ? undefined : query.data;
  return (
    <Sheet
      open={id !== null}
      onOpenChange={(next) => next || onClose()}
      title={isNew ? 'New policy' : (policy?.name ?? 'Policy')}
      description="A policy denies actions, whatever a role allows. It binds Owners too and applies from the next request."
      dismissible={!dirty}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" disabledReason={readOnly}>
            {isNew ? 'Create policy' : 'Save'}
          </Button>
        </>
      }
    >
      {id === null ? null : query.isError ? (
        <QueryError query={query} what="This policy" />
      ) : isNew || policy ? (
        <Fields
          key={id}
          policy={policy}
          onDirty={setDirty}
          onDone={() => {
            setDirty(false);
            onClose();
          }}
        />
      ) : (
        <Skeleton lines={8} label="Loading the policy" />
      )}
    </Sheet>
  );
}

function Fields({ policy, onDirty, onDone }: { policy: PolicyRow | undefined; onDirty: (dirty: boolean) => void; onDone: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const candidates = useCandidates();
  const form = useZodForm({ schema: PolicyForm, defaultValues: policy ? valuesOf(policy) : EMPTY });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: policy,
    values: valuesOf,
    draft: { name: `policies/${policy?.id ?? 'new'}` },
    onNothingLeft: onDone,
  });
  const saved = async (row: { name: string }) => {
    forget();
    notifyDone(policy ? 'Saved' : `${row.name} created`);
    await cache.invalidateQueries(trpc.policies.pathFilter());
    onDone();
  };
  const create = useMutation(trpc.policies.create.mutationOptions({ onSuccess: saved, onError: refuse }));
  const update = useMutation(trpc.policies.update.mutationOptions({ onSuccess: saved, onError: refuse }));
  const values = form.watch();
  useUnsavedGuard(form.formState.isDirty, onDirty);
  const input = inputOf(values);
  const { enabled: _, ...draft } = input;
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={create.isPending || update.isPending || undefined}
      onSubmit={async (value) => {
        clear();
        const sent = inputOf(value);
        const call = policy ? update.mutateAsync({ id: policy.id, ...sent, expected_updated_at: started() }) : create.mutateAsync(sent);
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      {!policy && <Templates form={form} />}
      <Field label="Name" required error={fieldError(form, 'name')} hint="Shown to everyone the policy denies.">
        <Input placeholder="No payloads" {...form.register('name')} />
      </Field>
      <Who form={form} values={values} candidates={candidates} />
      <Field
        label="Can’t use"
        required
        error={fieldError(form, 'actions')}
        hint="Type a resource or an action, such as “secrets” or “reveal”."
      >
        <MultiCombobox
          options={ACTION_OPTIONS}
          values={values.actions}
          onValuesChange={(actions) => form.setValue('actions', actions, { shouldDirty: true, shouldValidate: true })}
          placeholder="Add an action…"
        />
      </Field>
      {values.actions.length > 0 && values.actions.every(isNarrowable) && (
        <Field
          label="Only on"
          optional
          error={fieldError(form, 'resources')}
          hint="One ID or name pattern per line. * is any text, ? is one character. Leave empty for all."
        >
          <Textarea mono rows={2} placeholder="prod-*" {...form.register('resources')} />
        </Field>
      )}
      <Field label="Where" group>
        <Segmented
          label="Where the policy applies"
          value={values.space}
          onValueChange={(space) => form.setValue('space', space, { shouldDirty: true })}
          options={[
            { value: 'both', label: 'Live and Test' },
            { value: 'live', label: 'Live' },
            { value: 'test', label: 'Test' },
          ]}
        />
      </Field>
      <Field label="Reason" optional error={fieldError(form, 'reason')} hint="For your team. Kept in the audit log.">
        <Textarea rows={2} {...form.register('reason')} />
      </Field>
      <Checkbox
        checked={values.enabled}
        onCheckedChange={(on) => form.setValue('enabled', on, { shouldDirty: true })}
        label="On"
        description="Turn it off to save it without any effect."
      />
      <Callout title={policyInWords(input, candidates.named)} />
      <PolicyEffect draft={draft.name === '' ? { ...draft, name: 'This policy' } : draft} />
      {policy && <PolicyDenials id={policy.id} />}
      <ApiEquivalent method={policy ? 'PATCH' : 'POST'} path={policy ? `/admin/policies/${policy.id}` : '/admin/policies'} body={input} />
    </Form>
  );
}

type FormProps = { form: ZodForm<Values> };

function Templates({ form }: FormProps) {
  return (
    <Field label="Start from" group>
      <div className="flex flex-wrap gap-1.5">
        {TEMPLATES.map(({ id, title, description, values }) => (
          <Button
            key={id}
            size="sm"
            title={description}
            onClick={() =>
              form.reset(
                {
                  ...EMPTY,
                  name: values.name,
                  who: values.subjects.all ? 'all' : 'some',
                  roles: [...(values.subjects.roles ?? [])],
                  actions: [...values.actions],
                  resources: (values.resources ?? []).join('\n'),
                  space: values.space,
                  reason: values.reason,
                },
                { keepDefaultValues: true },
              )
            }
          >
            {title}
          </Button>
        ))}
      </div>
    </Field>
  );
}

function Who({ form, values, candidates }: FormProps & { values: Values; candidates: ReturnType<typeof useCandidates> }) {
  const set = (field: 'roles' | 'user_ids' | 'api_key_ids' | 'oauth_client_ids') => (next: string[]) =>
    form.setValue(field, next, { shouldDirty: true, shouldValidate: true });
  return (
    <>
      <Field label="Who" group error={fieldError(form, 'who')}>
        <Segmented
          label="Who the policy binds"
          value={values.who}
          onValueChange={(who) => form.setValue('who', who, { shouldDirty: true })}
          options={[
            { value: 'some', label: 'Roles, people and credentials' },
            { value: 'all', label: 'Everybody' },
          ]}
        />
      </Field>
      {values.who === 'some' && (
        <>
          <Field label="Roles" optional>
            <MultiCombobox options={ROLE_OPTIONS} values={values.roles} onValuesChange={set('roles')} placeholder="Add a role…" />
          </Field>
          <Field label="People" optional>
            <MultiCombobox
              options={known(candidates.people, values.user_ids)}
              values={values.user_ids}
              onValuesChange={set('user_ids')}
              placeholder="Add a person…"
            />
          </Field>
          <Field label="API keys" optional>
            <MultiCombobox
              options={known(candidates.keys, values.api_key_ids)}
              values={values.api_key_ids}
              onValuesChange={set('api_key_ids')}
              placeholder="Add a key…"
            />
          </Field>
          <Field label="OAuth clients" optional hint="Binds tokens of the application, whoever granted them.">
            <MultiCombobox
              options={known(candidates.clients, values.oauth_client_ids)}
              values={values.oauth_client_ids}
              onValuesChange={set('oauth_client_ids')}
              placeholder="Add an application…"
            />
          </Field>
        </>
      )}
    </>
  );
}

type Option = { value: string; label: string; detail?: string };

const ROLE_OPTIONS: readonly Option[] = [
  ...MEMBER_ROLES.map((role) => ({ value: role, label: roleLabel(role), detail: 'People' })),
  ...KEY_ROLES.map(({ id }) => ({ value: id, label: roleLabel(id), detail: 'API keys' })),
];

/** Options for what a policy names although it is gone. */
const known = (options: readonly Option[], values: readonly string[]): readonly Option[] => [
  ...options,
  ...values.filter((id) => !options.some(({ value }) => value === id)).map((id) => ({ value: id, label: `Removed (${id.slice(0, 8)})` })),
];
