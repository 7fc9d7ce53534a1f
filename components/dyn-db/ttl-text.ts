import { counted } from '#components/ui/numbers.ts';

const UNITS = { d: 86_400, h: 3_600, m: 60, s: 1 } as const;
const NAMES = { d: 'day', h: 'hour', m: 'minute', s: 'second' } as const;
type Unit = keyof typeof UNITS;
const ORDER = Object.keys(UNITS) as Unit[];

/** Seconds of what a person typed: 900, 15m, 8h, 7d. Undefined for anything else. */
export function secondsIn(text: string): number | undefined {
  const [, amount, unit = 's'] = /^([0-9]{1,8})\s?([smhd])?$/.exec(text.trim().toLowerCase()) ?? [];
  return amount === undefined ? undefined : Number(amount) * UNITS[unit as Unit];
}

/** The shortest such text of a number of seconds. */
export function ttlText(seconds: number): string {
  const unit = ORDER.find((each) => seconds % UNITS[each] === 0) ?? 's';
  return `${seconds / UNITS[unit]}${unit}`;
}

/** The same in words: 15 minutes. */
export function ttlWords(seconds: number): string {
  const unit = ORDER.find((each) => seconds % UNITS[each] === 0) ?? 's';
  return counted(seconds / UNITS[unit], NAMES[unit]);
}

/** Time that is left, as a clock: 0:42, 14:05, 3:02:09, 2 d 03:15. Nothing is left below zero. */
export function clockText(seconds: number): string {
  const left = Math.max(0, Math.floor(seconds));
  const [days, hours, minutes] = [Math.floor(left / 86_400), Math.floor(left / 3_600) % 24, Math.floor(left / 60) % 60];
  const two = (n: number) => String(n).padStart(2, '0');
  if (days > 0) return `${days} d ${two(hours)}:${two(minutes)}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(left % 60)}` : `${minutes}:${two(left % 60)}`;
}
