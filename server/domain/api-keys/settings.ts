import { canonicalAddress } from '#server/kernel/address.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid } from '#server/kernel/errors.ts';
import type { KeyRow } from './store.ts';

const HOUR = 3_600_000;
const FIVE_YEARS = 5 * 365 * 24 * HOUR;

/** A window without requests means nothing; requests alone mean per minute (interface rule 01 §8). */
export function limits(
  input: { rate_limit_requests?: number | null | undefined; rate_limit_window_sec?: number | null | undefined },
  stored: Pick<KeyRow, 'rate_limit_requests' | 'rate_limit_window_sec'> | null,
) {
  const requests = input.rate_limit_requests === undefined ? (stored?.rate_limit_requests ?? null) : input.rate_limit_requests;
  const window = input.rate_limit_window_sec === undefined ? (stored?.rate_limit_window_sec ?? null) : input.rate_limit_window_sec;
  if (requests === null && input.rate_limit_window_sec != null) throw invalid('rate_limit_window_sec', 'needs rate_limit_requests');
  return { rate_limit_requests: requests, rate_limit_window_sec: requests === null ? null : (window ?? 60) };
}

/** In the one stored spelling, each once; a wide range warns. */
export function addressList(ctx: Ctx, list: readonly string[]): string[] {
  return [
    ...new Set(
      list.map((entry) => {
        const address = canonicalAddress(entry);
        if (!address.ok) throw invalid('ip_allowlist', `${entry.slice(0, 64)} ${address.problem}`);
        if (address.warning) ctx.warnings.push(address.warning);
        return address.value;
      }),
    ),
  ];
}

/** Between one hour and five years ahead. */
export function expiry(ctx: Ctx, text: string): Date {
  const at = new Date(text);
  const ahead = at.getTime() - ctx.now.getTime();
  if (ahead < HOUR || ahead > FIVE_YEARS) throw invalid('expires_at', 'must lie between one hour and five years ahead');
  return at;
}
