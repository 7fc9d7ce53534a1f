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
  const isExempt = exemption(candidates.filter(({ action }) => action === 'whitelist'));
  const open = candidates.filter((span) => span.action !== 'whitelist' && (span.entity === 'CREDENTIAL' || !isExempt(span)));
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

/** Whether a span lies inside of one of these: of those that begin before it, the farthest end decides. */
function exemption(exempt: Span[]): (span: Span) => boolean {
  if (exempt.length === 0) return () => false;
  exempt.sort((a, b) => a.start - b.start);
  let end = 0;
  const ends = exempt.map((span) => (end = Math.max(end, span.end)));
  return (span) => {
    const before = firstAfter(exempt, span.start) - 1;
    return before >= 0 && (ends[before] as number) >= span.end;
  };
}

/** The index of the first that begins after the place; of spans in order. */
export function firstAfter(spans: readonly { start: number }[], place: number): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle] as { start: number }).start <= place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Of spans in order of precedence, longest first, each that overlaps no earlier one: an earlier one is no shorter, so it covers one of the ends. */
function withoutOverlap(spans: readonly Span[]): Span[] {
  let [base, until] = [Number.POSITIVE_INFINITY, 0];
  for (const { start, end } of spans) {
    base = Math.min(base, start);
    until = Math.max(until, end);
  }
  const taken = new Uint8Array(Math.max(0, until - base));
  return spans.filter(({ start, end }) => {
    if (taken[start - base] === 1 || taken[end - 1 - base] === 1) return false;
    taken.fill(1, start - base, end - base);
    return true;
  });
}
