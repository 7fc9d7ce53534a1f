import { canonicalAddress } from '#server/kernel/address.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid } from '#server/kernel/errors.ts';
import { allowsMoreAddresses, type Looser, later } from '#server/kernel/loosening.ts';
import type { KeyRow } from './store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FIVE_YEARS = 5 * 365 * DAY;

/** A window without requests means nothing; requests alone mean per minute (interface rule 01 §8). */
export function limits(
  input: { rate_limit_requests?: number | null | undefined; rate_limit_window_sec?: number | null | undefined },
  stored: Pick<KeyRow, 'rate_limit_requests' | 'rate_limit_window_sec'> | null,
) {
  const requests = input.rate_limit_requests === undefined ? (stored?.rate_limit_requests ?? null) : input.rate_limit_requests;
  const window = input.rate_limit_window_sec === undefined ? (stored?.rate_limit_window_sec ?? null) : input.rate_limit_window_sec;
  if (requests === null && input.rate_limit_window_sec != null) throw invalid('rate_limit_window_sec', 'requires rate_limit_requests');
  return { rate_limit_requests: requests, rate_limit_window_sec: requests === null ? null : (window ?? 60) };
}

/** In the one stored spelling, each once; a wide range warns. */
export function addressList(ctx: Ctx, list: readonly string[]): string[] {
  return [
    ...new Set(
      list.map((entry, i) => {
        const address = canonicalAddress(entry);
        if (!address.ok) throw invalid(`ip_allowlist.${i}`, address.problem);
        if (address.warning) ctx.warnings.push(address.warning);
        return address.value;
      }),
    ),
  ];
}

type Ending = { expires_at?: string | null | undefined; expires_in_days?: number | undefined; never_expires?: true | undefined };

/** The expiry that was asked for: null for never, undefined when nothing was said. @throws Refusal validation_error unless it is one hour to five years ahead */
export function expiry(ctx: Ctx, { expires_at, expires_in_days, never_expires }: Ending): Date | null | undefined {
  if (never_expires || expires_at === null) return null;
  if (expires_in_days !== undefined) return new Date(ctx.now.getTime() + expires_in_days * DAY);
  if (expires_at === undefined) return undefined;
  const at = new Date(expires_at);
  const ahead = at.getTime() - ctx.now.getTime();
  if (ahead < HOUR || ahead > FIVE_YEARS) throw invalid('expires_at', 'must be between 1 hour and 5 years from now');
  return at;
}

export type KeySettings = Pick<
  KeyRow,
  'name' | 'rate_limit_requests' | 'rate_limit_window_sec' | 'ip_allowlist' | 'role_ids' | 'scopes' | 'scoped' | 'expires_at'
>;

/** Which changes of a key make a stolen one worth more. */
export const KEY_PROTECTIONS: Looser<KeySettings> = {
  name: 'harmless',
  // A rate limit bounds load and cost; whoever may edit keys can make another one without any.
  rate_limit_requests: 'harmless',
  rate_limit_window_sec: 'harmless',
  ip_allowlist: allowsMoreAddresses,
  // Grants have a rule of their own: only what people reach by confirming asks.
  role_ids: 'harmless',
  scopes: 'harmless',
  scoped: 'harmless',
  expires_at: later,
};
