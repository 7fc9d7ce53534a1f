'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { MultiCombobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { CreatePiiPolicy, PII_ACTIONS } from '#server/domain/ai-controls/schema.ts';
import { ACTION_HINTS, ACTION_LABELS, type PiiPolicyRow } from './labels.ts';

const FORM = 'pii-policy-form';
const LABELS = { name: 'Name', default_action: 'Built-in detectors', recognizer_ids: 'Recognizers', description: 'Description' };
const valuesOf = ({ name, default_action, recognizer_ids, description }: PiiPolicyRow) => ({
  name,
  default_action,
  recognizer_ids,
  description,
});

type SheetProps = { open: boolean; policy: PiiPolicyRow | undefined; onClose: () => void };

/** Makes or changes a PII policy. Its name stays. */
export function PiiPolicySheet({ open, policy, onClose }: SheetProps) {
  const readOnly = useForbidden('ai_gateway:update');
  const [dirty, setDirty] = useUnsavedIn(open);
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={policy ? policy.name : 'New PII policy'}
      description="Attach it to agents on their Privacy tab."
      size="sm"
      dismissible={!dirty}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" disabledReason={readOnly}>
            {policy ? 'Save' : 'Create policy'}
          </Button>
        </>
      }
    >
      {open && (
        <Fields
          key={policy?.id ?? 'new'}
          policy={policy}
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

function Fields({ policy, onDirty, onDone }: { policy: PiiPolicyRow | undefined; onDirty: (dirty: boolean) => void; onDone: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const recognizers = useQuery(trpc.aiControls.piiRecognizers.queryOptions({ per_page: 100, sort: 'name', order: 'asc' }));
  const form = useZodForm({
    schema: CreatePiiPolicy,
    defaultValues: policy ? valuesOf(policy) : { name: '', default_action: 'tokenize', recognizer_ids: [] },
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: policy,
    values: valuesOf,
    labels: LABELS,
    draft: { name: `ai-pii-policies/${policy?.id ?? 'new'}` },
    onNothingLeft: onDone,
  });
  const saved = async (row: { name: string }) => {
    forget();
    notifyDone(policy ? 'Saved' : `${row.name} created`);
    await cache.invalidateQueries(trpc.aiControls.pathFilter());
    onDone();
  };
  const create = useMutation(trpc.aiControls.createPiiPolicy.mutationOptions({ onSuccess: saved, onError: refuse }));
  const update = useMutation(trpc.aiControls.updatePiiPolicy.mutationOptions({ onSuccess: saved, onError: refuse }));
  const values = form.watch();
  useUnsavedGuard(form.formState.isDirty, onDirty);
  const chosen = values.recognizer_ids ?? [];
  const action = values.default_action ?? 'redact';
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={create.isPending || update.isPending || undefined}
      onSubmit={async ({ name, ...settings }) => {
        clear();
        const call = policy
          ? update.mutateAsync({ id: policy.id, ...settings, expected_updated_at: started() })
          : create.mutateAsync({ name, ...settings });
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')} hint={policy && 'The name of a policy can’t be changed.'}>
        <Input placeholder="Customer data" readOnly={policy !== undefined} {...form.register('name')} />
      </Field>
      <Field label="Built-in detectors" error={fieldError(form, 'default_action')} hint={ACTION_HINTS[action]}>
        <Select
          options={PII_ACTIONS.filter((one) => one !== 'whitelist' || action === 'whitelist').map((value) => ({
            value,
            label: ACTION_LABELS[value],
          }))}
          value={action}
          onValueChange={(value) => form.setValue('default_action', value, { shouldDirty: true })}
        />
      </Field>
      {(action === 'warn' || action === 'whitelist') && (
        <Callout tone="warn" title="Providers get real values">
          Only credentials are still redacted.
        </Callout>
      )}
      <Field label="Recognizers" optional error={fieldError(form, 'recognizer_ids')} hint="Leave empty to run every enabled recognizer.">
        <MultiCombobox
          values={chosen}
          onValuesChange={(ids) => form.setValue('recognizer_ids', ids, { shouldDirty: true })}
          options={(recognizers.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          placeholder="All enabled"
        />
      </Field>
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Textarea rows={2} {...form.register('description', { setValueAs: (text: unknown) => text || null })} />
      </Field>
      <ApiEquivalent
        method={policy ? 'PATCH' : 'POST'}
        path={policy ? `/ai-gateway/pii-policies/${policy.id}` : '/ai-gateway/pii-policies'}
        body={{ ...(policy ? {} : { name: values.name }), default_action: action, recognizer_ids: chosen }}
      />
    </Form>
  );
}
