export const HEALTH = ['down', 'degraded', 'healthy', 'idle'] as const;
export type Health = (typeof HEALTH)[number];

/** Shares of failed calls, in percent, from which and beyond which a client is not well. */
export const DEGRADED_FROM = 5;
export const DOWN_ABOVE = 25;

/** By the share of failed calls: under 5 %, up to 25 %, above (interface rule 11 §5). No calls say nothing about health. */
export function healthOf(calls: number, errors: number): Health {
  if (calls === 0) return 'idle';
  const share = (errors / calls) * 100;
  return share < DEGRADED_FROM ? 'healthy' : share <= DOWN_ABOVE ? 'degraded' : 'down';
}
