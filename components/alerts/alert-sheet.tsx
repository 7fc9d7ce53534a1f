'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useSearchParams } from 'next/navigation';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Form, useZodForm } from '#components/ui/form.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { AlertFields } from './alert-fields.tsx';
import { AlertValues, conditionOf, listOf, NEW, valuesFrom, valuesOf } from './alert-values.ts';
import type { AlertRow } from './labels.ts';
import { AlertPreview } from './preview.tsx';

const FORM = 'alert-form';
const LABELS = {
  ...{ name: 'Name', type: 'What is watched', severity: 'Severity', cooldown_minutes: 'Reminder', route_ids: 'Routes' },
  ...{ environments: 'Environments', channel_ids: 'Channels', enabled: 'On', condition: 'Condition' },
};

type SheetProps = { open: boolean; alert: AlertRow | undefined; onClose: () => void };

/** Makes or changes an alert. What it watches stays what it is. */
export function AlertSheet({ open, alert, onClose }: SheetProps) {
  const cannotCreate = useForbidden('alert:create');
  const cannotUpdate = useForbidden('alert:update');
  const [dirty, setDirty] = useUnsavedIn(open);
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={alert ? alert.name : 'New alert'}
      description={alert ? undefined : 'It is looked at every 30 seconds from now on.'}
      dismissible={!dirty}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" disabledReason={alert ? cannotUpdate : cannotCreate}>
            {alert ? 'Save' : 'Create alert'}
          </Button>
        </>
      }
    >
      {open && (
        <Fields
          key={alert?.id ?? 'new'}
          alert={alert}
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

type FieldsProps = { alert: AlertRow | undefined; onDirty: (dirty: boolean) => void; onDone: () => void };

function Fields({ alert, onDirty, onDone }: FieldsProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const search = useSearchParams();
  const form = useZodForm({
    schema: AlertValues,
    defaultValues: alert ? valuesOf(alert) : { ...NEW, ...valuesFrom(new URLSearchParams(search)) },
  });
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, {
    row: alert,
    values: valuesOf,
    labels: LABELS,
    onNothingLeft: onDone,
  });
  const saved = async (row: { name: string }) => {
    notifyDone(alert ? 'Saved' : `${row.name} created`);
    await cache.invalidateQueries(trpc.alerts.pathFilter());
    onDone();
  };
  const create = useMutation(trpc.alerts.create.mutationOptions({ onSuccess: saved, onError: refuse }));
  const update = useMutation(trpc.alerts.update.mutationOptions({ onSuccess: saved, onError: refuse }));
  useUnsavedGuard(form.formState.isDirty, onDirty);
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={create.isPending || update.isPending || undefined}
      onSubmit={async (values) => {
        clear();
        const { name, type, severity, route_ids, channel_ids, enabled } = values;
        const input = {
          ...{ name, severity, route_ids, channel_ids, enabled, condition: conditionOf(values) as never },
          ...{ cooldown_minutes: Number(values.cooldown_minutes), environments: listOf(values.environments) },
        };
        const call = alert
          ? update.mutateAsync({ id: alert.id, ...input, expected_updated_at: started() })
          : create.mutateAsync({ ...input, type });
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      <AlertFields form={form} isNew={!alert} />
      <AlertPreview values={form.watch()} />
    </Form>
  );
}
