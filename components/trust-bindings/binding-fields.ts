import { z } from 'zod';
import { patternProblem } from '#server/domain/trust-bindings/patterns.shared.ts';
import {
  identityProblem,
  issuerProblem,
  PROVIDER_NAMES,
  PROVIDERS,
  type ProviderName,
} from '#server/domain/trust-bindings/providers.shared.ts';
import type { BindingRow } from './binding-row.ts';
import { claimsOf, linesOf, linesProblem } from './claim-lines.ts';

/** What the form of a binding holds: texts, as somebody types them. */
export const BindingFields = z
  .object({
    name: z.string().trim().min(1, 'Enter a name.').max(100),
    provider: z.enum(PROVIDER_NAMES),
    issuer: z.string().trim().max(500),
    audience: z.string().trim().min(1, 'Enter an audience.').max(255),
    subject: z.string().trim().max(255),
    claims: z.string(),
    scopes: z.array(z.string()).min(1, 'Choose at least one scope.'),
    ttl_seconds: z.enum(['300', '900', '1800', '3600']),
    single_use: z.boolean(),
    enabled: z.boolean(),
  })
  .superRefine((value, context) => {
    const add = (field: string, message: string | null) => message !== null && context.addIssue({ code: 'custom', path: [field], message });
    const { provider } = value;
    const issuer = value.issuer || PROVIDERS[provider].issuer;
    add('issuer', issuer ? issuerProblem(provider, issuer) : 'is required');
    const subject = value.subject === '' ? null : patternProblem(value.subject);
    add('subject', subject);
    const lines = linesProblem(value.claims);
    add('claims', lines);
    if (subject !== null || lines !== null) return;
    const trusted = { subject: value.subject || null, claims: claimsOf(value.claims) };
    add(trusted.subject === null && Object.keys(trusted.claims).length > 0 ? 'claims' : 'subject', identityProblem(provider, trusted));
  });
export type BindingValues = z.input<typeof BindingFields>;

export const FIELD_LABELS = { ttl_seconds: 'Lifetime of tokens', single_use: 'Each token once', enabled: 'On' };

export const newBinding = (slug: string, provider: ProviderName = 'github_actions'): BindingValues => ({
  ...{ name: '', provider, issuer: PROVIDERS[provider].issuer ?? '', audience: `service:api:${slug}`, subject: '', claims: '', scopes: [] },
  ...{ ttl_seconds: '900', single_use: PROVIDERS[provider].single_use, enabled: true },
});

const TTLS = ['300', '900', '1800', '3600'] as const;

export const valuesOf = (row: BindingRow): BindingValues => ({
  ...{ name: row.name, provider: row.provider, issuer: row.issuer, audience: row.audience, subject: row.subject ?? '' },
  ...{ claims: linesOf(row.claims), scopes: [...row.scopes], single_use: row.single_use, enabled: row.enabled },
  // The choice that is closest from below: a form never lengthens what nobody touched.
  ttl_seconds: TTLS.findLast((one) => Number(one) <= row.ttl_seconds) ?? '300',
});

/** The body of the call. A lifetime that was set over the API and not touched here stays. */
export const inputOf = ({ subject, claims, issuer, ttl_seconds, ...value }: BindingValues, row?: BindingRow) => ({
  ...value,
  issuer: issuer.trim() || PROVIDERS[value.provider].issuer || '',
  subject: subject.trim() || null,
  claims: claimsOf(claims) as Record<string, string | string[]>,
  ttl_seconds: row && valuesOf(row).ttl_seconds === ttl_seconds ? row.ttl_seconds : Number(ttl_seconds),
});
