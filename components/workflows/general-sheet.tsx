'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { Detail } from './workflow-labels.ts';

const General = z.object({
  name: z.string().trim().min(1, 'is required').max(200),
  description: z.string().max(1_000),
  environment: z.string(),
  timeout_seconds: z
    .string()
    .refine((text) => text === '' || (/^[0-9]{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 3_600), 'must be 1 to 3,600'),
});
const valuesOf = ({ name, description, environment, timeout_seconds }: Detail): z.output<typeof General> => ({
  name,
  description: description ?? '',
  environment: environment ?? '',
  timeout_seconds: timeout_seconds === null ? '' : timeout_seconds.toString(),
});
const bodyOf = (value: z.output<typeof General>) => ({
  name: value.name,
  description: value.description || null,
  environment: value.environment || null,
  timeout_seconds: value.timeout_seconds === '' ? null : Number(value.timeout_seconds),
});
const LABELS = { name: 'Name', description: 'Description', environment: 'Environment', timeout_seconds: 'Timeout' };

type Props = { open: boolean; workflow: Detail; onClose: () => void };

/** Changes what a workflow is called, and how it runs. */
export function GeneralSheet({ open, workflow, onClose }: Props) {
  return (
    <Sheet open={open} onOpenChange={(next) => next || onClose()} dismissible={false} title={`Edit ${workflow.name}`}>
      {open && <GeneralForm workflow={workflow} onClose={onClose} />}
    </Sheet>
  );
}

function GeneralForm({ workflow, onClose }: Omit<Props, 'open'>) {
  const { space } = useScope();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('workflow:update');
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const form = useZodForm({ schema: General, defaultValues: valuesOf(workflow) });
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, { row: workflow, values: valuesOf, labels: LABELS });
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const update = useMutation(
    trpc.workflows.update.mutationOptions({
      onError: refuse,
      onSuccess: async (row) => {
        form.reset(valuesOf(row));
        await queryClient.invalidateQueries({ queryKey: trpc.workflows.get.queryKey({ id: workflow.id }) });
        void queryClient.invalidateQueries(trpc.workflows.list.pathFilter());
        notifyDone('Workflow saved');
        onClose();
      },
    }),
  );
  const environment = form.watch('environment');
  return (
    <Form
      form={form}
      refusal={refusal}
      onSubmit={(value) => {
        clear();
        update.mutate({ id: workflow.id, ...bodyOf(value), expected_updated_at: started() });
      }}
      className="grow"
    >
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input maxLength={200} {...form.register('name')} />
      </Field>
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Textarea {...form.register('description')} />
      </Field>
      <Field label="Environment" optional hint="Steps that call routes use it, unless they name another.">
        <Select
          value={environment}
          onValueChange={(next) => form.setValue('environment', next, { shouldDirty: true })}
          options={[
            { value: '', label: 'The default' },
            ...(environments.data?.data ?? []).map(({ name }) => ({ value: name, label: name })),
          ]}
        />
      </Field>
      <Field label="Timeout in seconds" optional error={fieldError(form, 'timeout_seconds')} hint="300 unless set. Delays don’t count.">
        <Input inputMode="numeric" className="w-28" {...form.register('timeout_seconds')} />
      </Field>
      <ApiEquivalent method="PATCH" path={`/workflows/${workflow.id}`} body={bodyOf(form.watch())} />
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
