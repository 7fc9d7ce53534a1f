// How every page writes a number. The words around it are English, so it is too: what the server wrote and what the browser writes must be the same text.

const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** `12,847`; undefined for what is not known. */
export function grouped(n: number | bigint): string;
export function grouped(n: number | bigint | null | undefined): string | undefined;
export function grouped(n: number | bigint | null | undefined): string | undefined {
  return n === null || n === undefined ? undefined : whole.format(n);
}

/** `12.8K`, for where there is little room. */
export const short = (n: number): string => compact.format(n);

/** `1 call`, `12,847 calls`. */
export const counted = (n: number, noun: string, plural = `${noun}s`): string => `${whole.format(n)} ${n === 1 ? noun : plural}`;

/** Whole milliseconds of something that may not have happened (null), or is not known yet. */
export const millis = (ms: number | null | undefined): string =>
  ms === undefined ? '…' : ms === null ? '—' : `${whole.format(Math.round(ms))}\u00a0ms`;

/** Milliseconds where parts of one count. */
export const exactMillis = (ms: number): string =>
  ms > 0 && ms < 0.05 ? '<\u00a00.1\u00a0ms' : `${ms < 10 ? ms.toFixed(1) : whole.format(Math.round(ms))}\u00a0ms`;

/** A share in per cent that never rounds the little there is to nothing. */
export function shareOf(part: number, of: number): string {
  const percent = of > 0 ? (part / of) * 100 : 0;
  if (percent === 0) return '0%';
  if (percent < 0.1) return '<\u00a00.1%';
  return `${percent < 10 ? percent.toFixed(1) : whole.format(Math.round(percent))}%`;
}

/** `€49.00`; the amount is in the smallest unit of its currency. */
export function money(amount: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: currency.toUpperCase() });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}
