'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { normalizePattern } from '#server/domain/pki/names.shared.ts';
import { inPath, namesIn, type Role, type Root } from './pki-labels.ts';

const UNITS = { minute: 60, hour: 3_600, day: 86_400 } as const;
const UNIT_NAMES = ['minute', 'hour', 'day'] as const;
const UNIT_OPTIONS = UNIT_NAMES.map((value) => ({ value, label: `${value}s` }));
const amount = () =>
  z
    .string()
    .trim()
    .regex(/^[1-9][0-9]{0,6}$/, 'must be a whole number');

const RoleForm = z
  .object({
    role_name: z
      .string()
      .max(63)
      .regex(/^[a-z0-9][a-z0-9_-]*$/, 'may have lower-case letters, digits, underscores and dashes'),
    allowed_domains: z.string().superRefine((text, ctx) => {
      const names = namesIn(text);
      if (names.length > 100) ctx.addIssue({ code: 'custom', message: 'must be at most 100' });
      const wrong = names.find((name) => normalizePattern(name) === null);
      if (wrong !== undefined) ctx.addIssue({ code: 'custom', message: `${wrong.slice(0, 80)} isn’t a host name or pattern` });
    }),
    allow_subdomains: z.boolean(),
    allow_wildcards: z.boolean(),
    allow_ip_sans: z.boolean(),
    default_ttl: amount(),
    default_unit: z.enum(UNIT_NAMES),
    max_ttl: amount(),
    max_unit: z.enum(UNIT_NAMES),
  })
  .refine((given) => secondsOf(given.default_ttl, given.default_unit) <= secondsOf(given.max_ttl, given.max_unit), {
    path: ['default_ttl'],
    message: 'must be at most the longest lifetime',
  });
type Values = z.output<typeof RoleForm>;

const secondsOf = (count: string, unit: keyof typeof UNITS) => Number(count) * UNITS[unit];

function parts(seconds: number): { count: string; unit: keyof typeof UNITS } {
  const unit = UNIT_NAMES.toReversed().find((one) => seconds % UNITS[one] === 0) ?? 'minute';
  return { count: String(Math.ceil(seconds / UNITS[unit])), unit };
}

type Settings = Pick<
  Role,
  'allowed_domains' | 'allow_subdomains' | 'allow_wildcards' | 'allow_ip_sans' | 'default_ttl_seconds' | 'max_ttl_seconds'
>;
const FRESH: Settings & { name: string } = {
  ...{ name: '', allowed_domains: [], allow_subdomains: true, allow_wildcards: false, allow_ip_sans: true },
  ...{ default_ttl_seconds: 30 * UNITS.day, max_ttl_seconds: 90 * UNITS.day },
};

function valuesOf(role: Settings & { name: string }): Values {
  const [usual, most] = [parts(role.default_ttl_seconds), parts(role.max_ttl_seconds)];
  return {
    role_name: role.name,
    allowed_domains: role.allowed_domains.join('\n'),
    allow_subdomains: role.allow_subdomains,
    allow_wildcards: role.allow_wildcards,
    allow_ip_sans: role.allow_ip_sans,
    ...{ default_ttl: usual.count, default_unit: usual.unit, max_ttl: most.count, max_unit: most.unit },
  };
}

const settingsOf = (value: Values): Settings => ({
  allowed_domains: namesIn(value.allowed_domains),
  allow_subdomains: value.allow_subdomains,
  allow_wildcards: value.allow_wildcards,
  allow_ip_sans: value.allow_ip_sans,
  default_ttl_seconds: secondsOf(value.default_ttl, value.default_unit),
  max_ttl_seconds: secondsOf(value.max_ttl, value.max_unit),
});

/** What differs from the role as it was, or from what a new one has. */
function changesOf(value: Values, before: Settings): Partial<Settings> {
  const after = settingsOf(value);
  return Object.fromEntries(
    (Object.keys(after) as (keyof Settings)[]).flatMap((name) =>
      JSON.stringify(after[name]) === JSON.stringify(before[name]) ? [] : [[name, after[name]]],
    ),
  );
}

type Props = { root: Root; role: Role | undefined; open: boolean; onClose: () => void };

/** Makes a role of a root, or changes one. */
export function RoleSheet({ root, role, open, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title={role ? `Edit ${role.name}` : 'New role'}
      description={role ? 'Applies to certificates that are issued from now on.' : `What certificates of ${root.name} may claim.`}
    >
      {open && <RoleFields key={role?.id ?? 'new'} root={root} role={role} onClose={onClose} />}
    </Sheet>
  );
}

const LABELS = {
  ...{ role_name: 'Name', allowed_domains: 'Domains', allow_subdomains: 'Subdomains', allow_wildcards: 'Wildcards' },
  ...{ allow_ip_sans: 'IP addresses', default_ttl: 'Usual lifetime', default_unit: 'Unit', max_ttl: 'Longest lifetime', max_unit: 'Unit' },
};

function RoleFields({ root, role, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const forbidden = useForbidden('pki:manage_roles');
  const form = useZodForm({ schema: RoleForm, defaultValues: valuesOf(role ?? FRESH) });
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, { row: role, values: valuesOf, labels: LABELS });
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const saved = async () => {
    await queryClient.invalidateQueries(trpc.pki.pathFilter());
    notifyDone(role ? 'Role saved' : 'Role created');
    onClose();
  };
  const create = useMutation(trpc.pki.createRole.mutationOptions({ onError: refuse, onSuccess: saved }));
  const update = useMutation(trpc.pki.updateRole.mutationOptions({ onError: refuse, onSuccess: saved }));
  const values = form.watch();
  const readOnly = forbidden !== undefined;
  const toggle = (name: 'allow_subdomains' | 'allow_wildcards' | 'allow_ip_sans', label: string, description: string) => (
    <Checkbox
      checked={values[name]}
      disabled={readOnly}
      onCheckedChange={(on) => form.setValue(name, on, { shouldDirty: true })}
      label={label}
      description={description}
    />
  );
  const lifetime = (part: 'default' | 'max', label: string, hint: string) => (
    <div className="flex items-start gap-2">
      <Field label={label} error={fieldError(form, `${part}_ttl`)} hint={hint} className="min-w-0 flex-1">
        <Input inputMode="numeric" readOnly={readOnly} {...form.register(`${part}_ttl`)} />
      </Field>
      <Field
        label={
          <>
            Unit<span className="sr-only"> of the {label.toLowerCase()}</span>
          </>
        }
      >
        <Select
          className="w-32"
          disabled={readOnly}
          options={UNIT_OPTIONS}
          value={values[`${part}_unit`]}
          onValueChange={(next) => form.setValue(`${part}_unit`, next, { shouldDirty: true, shouldValidate: true })}
        />
      </Field>
    </div>
  );
  return (
    <Form
      form={form}
      refusal={refusal}
      onSubmit={(value) => {
        clear();
        if (role) update.mutate({ name: root.id, role: role.id, ...changesOf(value, role), expected_updated_at: started() });
        else create.mutate({ name: root.id, role_name: value.role_name, ...changesOf(value, FRESH) });
      }}
      className="grow"
    >
      {panel}
      {!role && (
        <Field label="Name" required error={fieldError(form, 'role_name')} hint="Callers use it in URLs. It can’t be changed.">
          <Input mono placeholder="internal-services" autoComplete="off" {...form.register('role_name')} />
        </Field>
      )}
      <Field
        label="Domains"
        error={fieldError(form, 'allowed_domains')}
        hint="One per line, such as example.com, *.example.com or device-*. A lone * allows every name. Nothing is allowed without one."
      >
        <Textarea
          mono
          rows={4}
          spellCheck={false}
          readOnly={readOnly}
          placeholder="*.internal.example.com"
          {...form.register('allowed_domains')}
        />
      </Field>
      {toggle('allow_subdomains', 'Subdomains', 'Names below a domain, at any depth. Without it only the exact names are allowed.')}
      {toggle('allow_wildcards', 'Wildcards', 'Names like *.example.com, which one certificate then covers.')}
      {toggle('allow_ip_sans', 'IP addresses', 'Beside names. They aren’t matched against the domains.')}
      {lifetime('default', 'Usual lifetime', 'When a request names none.')}
      {lifetime('max', 'Longest lifetime', 'Longer requests are shortened to it.')}
      {role ? (
        <ApiEquivalent method="PATCH" path={`/pki/roots/${inPath(root)}/roles/${inPath(role)}`} body={changesOf(values, role)} />
      ) : (
        <ApiEquivalent
          method="POST"
          path={`/pki/roots/${inPath(root)}/roles`}
          body={{ role_name: values.role_name || 'NAME', ...changesOf(values, FRESH) }}
        />
      )}
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
