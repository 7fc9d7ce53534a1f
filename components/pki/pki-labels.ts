import type { z } from 'zod';
import type { State } from '#components/ui/badge.tsx';
import { counted } from '#components/ui/numbers.ts';
import type { AcmeAccount } from '#server/domain/acme/schema.ts';
import type {
  CaRole,
  CaRoot,
  CertificateDetail,
  CertificateRecord,
  REASONS,
  RevealedCertificate,
  RootOverview,
  RootSummary,
} from '#server/domain/pki/schema.ts';

export type Root = z.output<typeof CaRoot>;
export type Role = z.output<typeof CaRole>;
export type Summary = z.output<typeof RootSummary>;
export type Overview = z.output<typeof RootOverview>;
export type Intermediate = Overview['intermediates'][number];
export type Certificate = z.output<typeof CertificateRecord>;
export type Detail = z.output<typeof CertificateDetail>;
export type Issued = z.output<typeof RevealedCertificate>;
export type AcmeAccountRow = z.output<typeof AcmeAccount>;
export type Reason = (typeof REASONS)[number];

export const ROOT_STATES: Record<Root['status'], { state: State; label: string }> = {
  active: { state: 'ok', label: 'Active' },
  retired: { state: 'off', label: 'Retired' },
  revoked: { state: 'blocked', label: 'Revoked' },
};

export const INTERMEDIATE_STATES: Record<Intermediate['status'], { state: State; label: string }> = {
  active: { state: 'ok', label: 'Active' },
  retired: { state: 'off', label: 'Retired' },
  expired: { state: 'expired', label: 'Expired' },
  revoked: { state: 'blocked', label: 'Revoked' },
};

export const CERTIFICATE_STATES: Record<Certificate['status'], { state: State; label: string }> = {
  valid: { state: 'ok', label: 'Valid' },
  expired: { state: 'expired', label: 'Expired' },
  revoked: { state: 'blocked', label: 'Revoked' },
};

export const ACCOUNT_STATES: Record<AcmeAccountRow['status'], { state: State; label: string }> = {
  pending: { state: 'pending', label: 'Not registered' },
  expired: { state: 'expired', label: 'Key expired' },
  valid: { state: 'ok', label: 'Registered' },
  deactivated: { state: 'off', label: 'Deactivated' },
  revoked: { state: 'blocked', label: 'Revoked' },
};

export const REASON_LABELS: Record<Reason, string> = {
  unspecified: 'Not specified',
  key_compromise: 'Its key may be known to others',
  superseded: 'Replaced by another',
  cessation_of_operation: 'No longer in use',
  affiliation_changed: 'Its owner changed',
  privilege_withdrawn: 'It may no longer be used',
};

export const SOURCES: Record<Certificate['source'], string> = { issue: 'Issued with its key', sign: 'Signed from a request', acme: 'ACME' };

const DAY_MS = 86_400_000;
const UNITS = [
  ['year', 365 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Seconds as people say them: 10 years, 30 days, 90 minutes. */
export function duration(seconds: number): string {
  const [unit, size] = UNITS.find(([, one]) => seconds >= one && seconds % one === 0) ?? (['second', 1] as const);
  return counted(seconds / size, unit);
}

/** How much of a lifetime has passed, and what is left in words. */
export function lifeOf({ not_before, not_after }: { not_before: string; not_after: string }, now: number = Date.now()) {
  const [from, to] = [Date.parse(not_before), Date.parse(not_after)];
  const left = to - now;
  const passed = Math.min(to - from, Math.max(0, now - from));
  const days = Math.floor(left / DAY_MS);
  const words =
    left <= 0
      ? 'expired'
      : days >= 730
        ? `${counted(Math.floor(days / 365), 'year')} left`
        : days > 0
          ? `${counted(days, 'day')} left`
          : 'less than a day left';
  return { passed: Math.round(passed / 1_000), whole: Math.round((to - from) / 1_000), days, words, soon: left < 30 * DAY_MS };
}

/** The name of a root or role as a part of a URL. */
export const inPath = ({ name }: { name: string }): string => encodeURIComponent(name);

/** Lines, commas and spaces all part one name from the next. */
export const namesIn = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** A serial number as certificate viewers spell it. */
export const spelledSerial = (hex: string): string => hex.replace(/..(?=.)/g, '$&:');
