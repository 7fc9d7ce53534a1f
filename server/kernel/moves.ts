/**
 * A credential never follows its destination: an edit that changes where a stored credential is sent, and doesn't give the credential anew, takes what a
 * reveal of that credential takes (`confirmMove` in server/domain/reveals). A row declares which of its fields say where.
 */
export type Moves = {
  /** Fields that say where: addresses, TLS settings and pins; `connect_options.sslmode` for a member of one. */
  to: readonly string[];
  /** Fields of the same input that give the stored credential anew; none when another operation sets it. */
  credentials: readonly string[];
};

/** What such an edit may be refused with, beyond validation_error. */
export const MOVE_REFUSALS = ['step_up_required', 'mfa_required', 'reveal_budget_exceeded', 'reveal_reason_required', 'invalid'] as const;

/** Scheme, host and port of a URL in one spelling; any other text is returned as it is. */
export function originOf(url: string): string {
  const { protocol, hostname, port } = URL.parse(url) ?? {};
  return hostname ? `${protocol}//${canonicalName(hostname)}:${port}` : url;
}

/** A host name in one spelling: lower case, without the dot at its end. */
export const canonicalName = (host: string): string => host.toLowerCase().replace(/\.$/, '');

/** The fields whose two sides differ. */
export const changedFields = (sides: Readonly<Record<string, readonly [before: unknown, after: unknown]>>): string[] =>
  Object.entries(sides).flatMap(([field, [before, after]]) => (before === after ? [] : [field]));
