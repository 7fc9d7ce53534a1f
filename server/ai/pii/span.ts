/** What happens to a match: replaced by a placeholder, replaced by a reversible token, only recorded, or exempt from every other detector. */
export type PiiAction = 'redact' | 'tokenize' | 'warn' | 'whitelist';
/** How a reversible token is written (interface rule 50 §7.5). */
export type TokenFormat = 'generic' | 'email' | 'pan' | 'ssn' | 'phone' | 'fpe';

/** One match: UTF-16 offsets [start, end) of the text it was found in. */
export type Span = {
  start: number;
  end: number;
  /** Entity type, such as EMAIL_ADDRESS: what a placeholder and a token name. */
  entity: string;
  action: PiiAction;
  format: TokenFormat;
  /** 0 to 1. */
  confidence: number;
  /** A check digit, a parse or the like agreed. */
  validated: boolean;
  /** The workspace's recognizer; null of a built-in detector. */
  recognizer_id: string | null;
};

/**
 * The spans that act, in order and without overlap: whitelisted ones are removed together with what lies inside of them; then the longest span of an
 * overlapping group wins, then the more confident one, then the validated one, then the earlier one. Credentials can't be whitelisted.
 */
export function winners(candidates: readonly Span[]): Span[] {
  if (candidates.length < 2) return candidates.filter(({ action }) => action !== 'whitelist');
  const exempt = candidates.filter(({ action }) => action === 'whitelist');
  const open = candidates.filter(
    (span) =>
      span.action !== 'whitelist' &&
      (span.entity === 'CREDENTIAL' || !exempt.some(({ start, end }) => start <= span.start && span.end <= end)),
  );
  open.sort(
    (a, b) =>
      b.end - b.start - (a.end - a.start) ||
      b.confidence - a.confidence ||
      Number(b.validated) - Number(a.validated) ||
      a.start - b.start ||
      (a.entity < b.entity ? -1 : 1),
  );
  return withoutOverlap(open).sort((a, b) => a.start - b.start);
}

/** Of spans in order of precedence, each that overlaps no earlier one; a sorted list of what is taken makes it one search per span. */
function withoutOverlap(spans: readonly Span[]): Span[] {
  const taken: Span[] = [];
  for (const span of spans) {
    let low = 0;
    let high = taken.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((taken[middle] as Span).start < span.end) low = middle + 1;
      else high = middle;
    }
    const before = taken[low - 1];
    if (!before || before.end <= span.start) taken.splice(low, 0, span);
  }
  return taken;
}
