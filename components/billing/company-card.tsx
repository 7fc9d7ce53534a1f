'use client';

import { useState } from 'react';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, textLink } from '#components/ui/layout.tsx';
import { lazyPart } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { countryName } from '#server/domain/tenants/country.shared.ts';
import type { Billing } from './billing.ts';
import { taxIdLabel } from './tax-id-labels.ts';

const TaxIdForm = lazyPart(() => import('./tax-id-form.tsx').then((module) => module.TaxIdForm));

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
