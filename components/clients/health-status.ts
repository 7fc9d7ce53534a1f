export type Health = 'healthy' | 'degraded' | 'down' | 'idle';

/** By the share of failed calls: under 5 %, up to 25 %, above (interface rule 11 §5). No calls say nothing about health. */
export function healthOf(calls: number, errors: number): Health {
  if (calls === 0) return 'idle';
  const share = errors / calls;
  return share < 0.05 ? 'healthy' : share <= 0.25 ? 'degraded' : 'down';
}
