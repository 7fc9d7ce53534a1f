'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Select } from '#components/ui/select.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { countryName } from '#server/domain/tenants/country.shared.ts';
import type { TaxIdType } from '#server/domain/tenants/tax-ids.shared.ts';
import type { Billing } from './billing.ts';
import { TAX_ID_OPTIONS, taxIdLabel } from './tax-id-labels.ts';

const loadFields = () => import('./schemas.ts').then((module) => module.TaxIdFields);

/** Whom the invoices go to. */
export function CompanyCard({ company }: { company: Billing['company'] }) {
  const [editing, setEditing] = useState(false);
  const forbidden = useForbidden('billing:update_tax');
  const place = [company.postal_code, company.city].filter(Boolean).join(' ');
  const address = [company.address, place, company.country && countryName(company.country)].filter(Boolean);
  return (
    <SectionCard
      title="Company details"
      description={
        <>
          Edit the address in{' '}
          <Link className={textLink} href="/me/profile">
            your profile
          </Link>
          . It belongs to the first workspace you joined.
        </>
      }
      actions={
        !editing && (
          <Button size="sm" disabledReason={forbidden} onClick={() => setEditing(true)}>
            Edit tax ID
          </Button>
        )
      }
    >
      {editing ? (
        <TaxIdForm company={company} onClose={() => setEditing(false)} />
      ) : (
        <KeyValueList
          items={[
            { label: 'Address', value: address.length > 0 ? address.join(', ') : 'Not set' },
            {
              label: 'Tax ID',
              value: company.tax_id_value && company.tax_id_type ? company.tax_id_value : 'Not set',
              ...(company.tax_id_type ? { hint: taxIdLabel(company.tax_id_type) } : {}),
            },
          ]}
        />
      )}
    </SectionCard>
  );
}

function TaxIdForm({ company, onClose }: { company: Billing['company']; onClose: () => void }) {
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
