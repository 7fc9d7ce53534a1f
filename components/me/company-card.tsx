'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { TAX_ID_OPTIONS } from '#components/billing/tax-id-labels.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { Me } from '#server/domain/people/schema.ts';
import { COUNTRY_CODES } from '#server/domain/tenants/countries.shared.ts';
import { countryName } from '#server/domain/tenants/country.shared.ts';
import type { TaxIdType } from '#server/domain/tenants/tax-ids.shared.ts';
import { usePersonCall } from './person-calls.ts';

type Person = z.output<typeof Me>;
type Company = NonNullable<Person['company']>;

const loadFields = () => import('./schemas.ts').then((module) => module.CompanyFields);
const FIELDS = ['country', 'address', 'city', 'postal_code', 'tax_id_type', 'tax_id_value'] as const;

const valuesOf = (company: Company) => ({
  country: company.country ?? '',
  address: company.address ?? '',
  city: company.city ?? '',
  postal_code: company.postal_code ?? '',
  // The column holds nothing but these types.
  tax_id_type: (company.tax_id_type ?? 'eu_vat') as TaxIdType,
  tax_id_value: company.tax_id_value ?? '',
});

/** Whom the invoices of the first workspace of the person go to; they are its Owner or an Admin (interface rule 22 §6). */
export function CompanyCard({ me, name }: { me: Person & { company: Company }; name: string }) {
  const enrolled = me.factors.totp || me.factors.passkeys.length > 0;
  return (
    <SectionCard title="Company details" description={`Printed on the invoices of ${name}, the first workspace you joined.`}>
      {!enrolled && (
        <Callout
          title="Changing these requires two-factor authentication"
          className="mb-4"
          actions={
            <LinkButton size="sm" href="/me/security">
              Set it up
            </LinkButton>
          }
        />
      )}
      <CompanyForm company={me.company} enrolled={enrolled} />
    </SectionCard>
  );
}

function CompanyForm({ company, enrolled }: { company: Company; enrolled: boolean }) {
  const call = usePersonCall();
  const cache = useQueryClient();
  const [countries] = useState(() =>
    COUNTRY_CODES.map((value) => ({ value, label: countryName(value) })).sort((a, b) => a.label.localeCompare(b.label)),
  );
  const form = useZodForm({ schema: loadFields, defaultValues: valuesOf(company) });
  const { refusal, refuse, clear } = useFormRefusal(form);
  const { isDirty, dirtyFields } = form.formState;
  useUnsavedGuard(isDirty);
  const save = useMutation({
    mutationFn: (change: object) => call<Person>('PATCH', '/auth/me', change),
    onError: refuse,
    onSuccess: (me) => {
      cache.setQueryData(['me'], me);
      if (me.company) form.reset(valuesOf(me.company));
      notifyDone('Company details saved');
    },
  });
  return (
    <Form
      form={form}
      refusal={refusal}
      onSubmit={(value) => {
        clear();
        const touched = FIELDS.filter((field) => dirtyFields[field]).map((field) => [field, value[field] === '' ? null : value[field]]);
        // A tax ID is a pair: its halves change together.
        const pair =
          value.tax_id_value === ''
            ? { tax_id_type: null, tax_id_value: null }
            : { tax_id_type: value.tax_id_type, tax_id_value: value.tax_id_value };
        save.mutate({ ...Object.fromEntries(touched), ...(dirtyFields.tax_id_type || dirtyFields.tax_id_value ? pair : {}) });
      }}
      className="max-w-md"
    >
      <Field label="Country" optional error={fieldError(form, 'country')}>
        <Combobox
          options={countries}
          value={form.watch('country') || null}
          onValueChange={(country) => form.setValue('country', country ?? '', { shouldDirty: true })}
          placeholder="Search for a country"
        />
      </Field>
      <Field label="Address" optional error={fieldError(form, 'address')}>
        <Input autoComplete="street-address" {...form.register('address')} />
      </Field>
      <div className="grid grid-cols-2 gap-3">
        <Field label="Postal code" optional error={fieldError(form, 'postal_code')}>
          <Input autoComplete="postal-code" {...form.register('postal_code')} />
        </Field>
        <Field label="City" optional error={fieldError(form, 'city')}>
          <Input autoComplete="address-level2" {...form.register('city')} />
        </Field>
      </div>
      <Field label="Type of tax ID">
        <Select
          options={TAX_ID_OPTIONS}
          value={form.watch('tax_id_type')}
          onValueChange={(type) => form.setValue('tax_id_type', type, { shouldDirty: true })}
        />
      </Field>
      <Field
        label="Tax ID"
        optional
        error={fieldError(form, 'tax_id_value')}
        hint="Leave empty to remove it. It never appears in the audit log."
      >
        <Input mono autoComplete="off" {...form.register('tax_id_value')} />
      </Field>
      <div>
        <Button
          type="submit"
          variant="primary"
          loading={save.isPending}
          disabledReason={enrolled ? (isDirty ? undefined : 'No changes to save') : 'Set up two-factor authentication first'}
        >
          Save
        </Button>
      </div>
    </Form>
  );
}
