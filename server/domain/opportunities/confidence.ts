export type Signals = { calls_30d: number; days_seen: number; has_escrow: boolean; has_credential_header: boolean };

/** How sure we are that a route would help, 0.4 to 0.99, in hundredths (interface rule 34 §5.4). */
export function confidenceOf({ calls_30d, days_seen, has_escrow, has_credential_header }: Signals): number {
  const sum =
    0.4 +
    0.12 * Math.log10(Math.max(1, calls_30d)) +
    (days_seen >= 3 ? 0.1 : 0) +
    (has_escrow ? 0.2 : 0) +
    (has_credential_header ? 0.05 : 0);
  return Math.min(0.99, Math.round(sum * 100) / 100);
}
