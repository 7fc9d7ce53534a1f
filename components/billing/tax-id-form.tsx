'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { TaxIdType } from '#server/domain/tenants/tax-ids.shared.ts';
import type { Billing } from './billing.ts';
import { TAX_ID_OPTIONS } from './tax-id-labels.ts';

const loadFields = () => import('./schemas.ts').then((module) => module.TaxIdFields);

/** Few change their tax ID: the form comes when it is asked for. */
export function TaxIdForm({ company, onClose }: { company: Billing['company']; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const form = useZodForm({
    schema: loadFields,
    // The column holds nothing but these types.
    defaultValues: { tax_id_type: (company.tax_id_type ?? 'eu_vat') as TaxIdType, tax_id_value: company.tax_id_value ?? '' },
  });
  const { refusal, refuse, clear } = useFormRefusal(form);
  const save = useMutation(
    trpc.billing.updateTaxId.mutationOptions({
      onError: refuse,
      onSuccess: (billing) => {
        cache.setQueryData(trpc.billing.get.queryKey({}), billing);
        notifyDone('Tax ID saved');
        onClose();
      },
    }),
  );
  return (
    <Form
      form={form}
      refusal={refusal}
      onSubmit={({ tax_id_type, tax_id_value }) => {
        clear();
        save.mutate(tax_id_value === '' ? { tax_id_type: null, tax_id_value: null } : { tax_id_type, tax_id_value });
      }}
    >
      <Field label="Type" required>
        <Select
          options={TAX_ID_OPTIONS}
          value={form.watch('tax_id_type')}
          onValueChange={(type) => form.setValue('tax_id_type', type, { shouldDirty: true, shouldValidate: form.formState.isSubmitted })}
        />
      </Field>
      <Field label="Number" error={fieldError(form, 'tax_id_value')} hint="Leave empty to remove it. It never appears in the audit log.">
        <Input mono autoComplete="off" {...form.register('tax_id_value')} />
      </Field>
      <div className="flex gap-2">
        <Button type="submit" variant="primary" loading={save.isPending}>
          Save
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Form>
  );
}
