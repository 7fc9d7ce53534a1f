'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import { useTraffic } from '#components/logs/use-traffic.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { cn } from '#components/ui/cn.ts';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { CreateEnvironment, type Environment } from '#server/domain/environments/schema.ts';

export type EnvironmentRow = z.output<typeof Environment>;

const FORM = 'environment-form';
/** Distinguishable with common color vision deficiencies. */
export const COLORS = ['#22c55e', '#f59e0b', '#ef4444', '#6366f1', '#06b6d4', '#ec4899', '#84cc16', '#64748b'];

export type EnvironmentFormProps = {
  open: boolean;
  /** Absent makes a new one. */
  environment: EnvironmentRow | undefined;
  onClose: () => void;
};

/** Makes or changes an environment; a new name goes along everywhere. */
export function EnvironmentForm({ open, environment, onClose }: EnvironmentFormProps) {
  const readOnly = useForbidden('environment:update');
  const [dirty, setDirty] = useUnsavedIn(open);
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={environment ? environment.display_name : 'New environment'}
      description={environment ? undefined : 'Routes and secrets can have their own settings and values in it.'}
      size="sm"
      dismissible={!dirty}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" disabledReason={readOnly}>
            {environment ? 'Save' : 'Create environment'}
          </Button>
        </>
      }
    >
      {open && (
        <Fields
          key={environment?.id ?? 'new'}
          environment={environment}
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

const valuesOf = ({ name, display_name, description, color, is_default }: EnvironmentRow) => ({
  name,
  display_name,
  description,
  color,
  is_default,
});
const LABELS = { name: 'Name', color: 'Color', is_default: 'Default' };

type FieldsProps = { environment: EnvironmentRow | undefined; onDirty: (dirty: boolean) => void; onDone: () => void };

function Fields({ environment, onDirty, onDone }: FieldsProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const form = useZodForm({
    schema: CreateEnvironment,
    defaultValues: environment ? valuesOf(environment) : { name: '', color: COLORS[3], is_default: false },
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: environment,
    values: valuesOf,
    labels: LABELS,
    draft: { name: `environments/${environment?.id ?? 'new'}` },
    onNothingLeft: onDone,
  });
  const saved = async (row: { display_name: string }) => {
    forget();
    notifyDone(environment ? 'Saved' : `${row.display_name} created`);
    await Promise.all([cache.invalidateQueries(trpc.environments.pathFilter()), cache.invalidateQueries(trpc.account.pathFilter())]);
    if (environment) await cache.invalidateQueries(trpc.routes.pathFilter());
    onDone();
  };
  const create = useMutation(trpc.environments.create.mutationOptions({ onSuccess: saved, onError: refuse }));
  const update = useMutation(trpc.environments.update.mutationOptions({ onSuccess: saved, onError: refuse }));
  const values = form.watch();
  useUnsavedGuard(form.formState.isDirty, onDirty);
  const traffic = useTraffic('environment', environment && [environment.id]);
  const calls = environment && traffic(environment.id)?.calls_24h;
  const renamed = environment && values.name !== environment.name;
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={create.isPending || update.isPending || undefined}
      onSubmit={async (value) => {
        clear();
        const call = environment
          ? update.mutateAsync({ id: environment.id, ...value, expected_updated_at: started() })
          : create.mutateAsync(value);
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      <Field
        label="Name"
        required
        error={fieldError(form, 'name')}
        hint={
          <>
            Lowercase letters, digits, _ and -. Callers send it as <span className="whitespace-nowrap">X-Svc-Environment</span>.
          </>
        }
      >
        <Input mono placeholder="staging" {...form.register('name')} />
      </Field>
      {renamed && (
        <Callout tone="warn" title={`Calls to ${environment.name} will get 404`}>
          {calls ? `${counted(calls, 'call')} in the last 24 hours. ` : ''}
          Routes and secrets keep working. Callers must send the new name.
        </Callout>
      )}
      <Field label="Display name" optional={!environment} error={fieldError(form, 'display_name')}>
        <Input placeholder="Staging" {...form.register('display_name', { setValueAs: (text: unknown) => text || undefined })} />
      </Field>
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Textarea rows={2} {...form.register('description', { setValueAs: (text: unknown) => text || null })} />
      </Field>
      <Field label="Color" group error={fieldError(form, 'color')}>
        <ColorChoice
          value={values.color ?? ''}
          onChange={(color) => form.setValue('color', color, { shouldDirty: true, shouldValidate: true })}
        />
        <p className="text-ink-2 text-xs">
          Preview:{' '}
          <EnvironmentDot
            name={values.display_name || values.name || 'environment'}
            color={values.color ?? ''}
            className="ml-1 align-middle"
          />
        </p>
      </Field>
      {!environment?.is_default && (
        <Checkbox
          checked={values.is_default ?? false}
          onCheckedChange={(on) => form.setValue('is_default', on, { shouldDirty: true })}
          label="Set as default"
          description="Used for new routes and secrets."
        />
      )}
      <ApiEquivalent
        method={environment ? 'PATCH' : 'POST'}
        path={environment ? `/environments/${environment.id}` : '/environments'}
        body={Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ''))}
      />
    </Form>
  );
}

function ColorChoice({ value, onChange }: { value: string; onChange: (color: string) => void }) {
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      {COLORS.map((color) => (
        <button
          key={color}
          type="button"
          aria-label={`Color ${color}`}
          aria-pressed={value === color}
          onClick={() => onChange(color)}
          className={cn('size-7 rounded-full border-2', value === color ? 'border-ink' : 'border-transparent')}
        >
          <span className="block size-full rounded-full border border-ink/25" style={{ backgroundColor: color }} />
        </button>
      ))}
      <Input aria-label="Color (hex)" mono value={value} onChange={(event) => onChange(event.target.value)} className="w-28" />
    </div>
  );
}
