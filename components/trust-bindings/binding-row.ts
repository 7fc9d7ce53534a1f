import type { z } from 'zod';
import { patternsOf } from '#server/domain/trust-bindings/claims.shared.ts';
import type { TrustBinding } from '#server/domain/trust-bindings/schema.ts';

export type BindingRow = z.output<typeof TrustBinding>;

/** What this folder needs to know of the client that a page shows. */
export type TrustingClient = {
  id: string;
  name: string;
  allowed_scopes: readonly string[];
  step_up_scopes: readonly string[];
  revoked_at: string | null;
};

/** Whose tokens a binding takes, in one line. */
export function trustedInWords({ subject, claims }: Pick<BindingRow, 'subject' | 'claims'>): string {
  const conditions = Object.entries(claims).map(([claim, patterns]) => `${claim} ${patternsOf(patterns).join(' or ')}`);
  return [...(subject === null ? [] : [subject]), ...conditions].join(' · ');
}
