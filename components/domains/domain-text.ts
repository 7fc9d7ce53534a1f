import type { State } from '#components/ui/badge.tsx';
import type { DomainStatus } from '#server/domain/domains/schema.ts';

export const DOMAIN_STATES: Record<DomainStatus, { label: string; state: State; says: string }> = {
  pending: {
    label: 'Pending',
    state: 'pending',
    says: 'Publish this TXT record at your DNS provider, then verify. New records can take up to an hour.',
  },
  verified: { label: 'Verified', state: 'ok', says: 'Keep this record: it is checked every day.' },
  lapsed: {
    label: 'Lapsed',
    state: 'warning',
    says: 'The record has been missing for three days. New people with this domain can’t join until it’s back; existing members are not affected.',
  },
  expired: { label: 'Expired', state: 'expired', says: 'This request expired after 14 days. Add the domain again to get a new value.' },
};
