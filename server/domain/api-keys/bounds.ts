import { rangesCover } from '#server/kernel/address.ts';
import { type Ctx, keyBehind, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';

/** How long, from where and how often a key works: what narrows it besides its grants. */
export type Bounds = {
  expires_at: Date | null;
  ip_allowlist: string[];
  rate_limit_requests: number | null;
  rate_limit_window_sec: number | null;
};

/** Those of the calling key or of the key behind the calling token, its replacement's end included; null for everybody else. */
export async function callersBounds(tx: Tx, ctx: Ctx): Promise<Bounds | null> {
  const key = keyBehind(ctx.actor);
  if (!key) return null;
  const row = await tx.api_keys.findFirst({
    where: { ...own(ctx), id: key.id },
    select: { expires_at: true, revoke_at: true, ip_allowlist: true, rate_limit_requests: true, rate_limit_window_sec: true },
  });
  if (!row) return null;
  const { revoke_at, ...bounds } = row;
  const sooner = revoke_at !== null && (bounds.expires_at === null || revoke_at < bounds.expires_at);
  return sooner ? { ...bounds, expires_at: revoke_at } : bounds;
}

/**
 * A key passes on no more than it has, not even to itself: a stolen one could otherwise outlive its end, or leave its addresses.
 * @throws Refusal privilege_escalation
 */
export function withinBounds(bounds: Bounds | null, wanted: Partial<Bounds>): void {
  if (bounds === null) return;
  const { expires_at, ip_allowlist, rate_limit_requests } = wanted;
  if (bounds.expires_at !== null && expires_at !== undefined && (expires_at === null || expires_at > bounds.expires_at))
    throw beyond(`outlive the key making this request, which expires at ${bounds.expires_at.toISOString()}`);
  if (bounds.ip_allowlist.length > 0 && ip_allowlist !== undefined && !rangesCover(bounds.ip_allowlist, ip_allowlist))
    throw beyond('work from addresses outside the IP allowlist of the key making this request');
  if (bounds.rate_limit_requests !== null && rate_limit_requests !== undefined && isLooser(wanted, bounds))
    throw beyond('exceed the rate limit of the key making this request');
}

/** More a second, or more at once: a longer window lets all its calls come in one moment. */
const isLooser = (wanted: Partial<Bounds>, bounds: Bounds): boolean =>
  (wanted.rate_limit_requests ?? Number.POSITIVE_INFINITY) > (bounds.rate_limit_requests ?? Number.POSITIVE_INFINITY) ||
  perSecond(wanted) > perSecond(bounds);

const perSecond = ({ rate_limit_requests: requests, rate_limit_window_sec: window }: Partial<Bounds>): number =>
  requests == null ? Number.POSITIVE_INFINITY : requests / (window ?? 60);

const beyond = (what: string) => new Refusal('privilege_escalation', `The key would ${what}.`);
