/** What budgets and limits are counted by. All begin at a round instant of UTC. */
export type Period = 'minute' | 'hour' | 'day' | 'month';

const LENGTH_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** The period that an instant (epoch ms) lies in, as [start, end) in epoch ms. */
export function periodOf(period: Period, at: number): { start: number; end: number } {
  if (period === 'month') {
    const date = new Date(at);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
  }
  const length = LENGTH_MS[period];
  const start = Math.floor(at / length) * length;
  return { start, end: start + length };
}

/** As answers and events name them. */
export const PERIOD_NAMES: Readonly<Record<Period, string>> = { minute: 'minute', hour: 'hourly', day: 'daily', month: 'monthly' };
