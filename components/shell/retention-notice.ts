/** A window of a workspace's logs that becomes smaller: days now, days from `ends` on. */
export type Shrinking = { kind: 'log' | 'audit'; days: number | null; days_then: number; ends: string };

export const SHRINKING_COOKIE = 'sp_seen_shrinking';

/** Which notice was put away; another workspace or another end is another notice. */
export const shrinkingMark = (slug: string, windows: readonly Shrinking[]): string =>
  [slug, ...windows.map(({ kind, ends }) => `${kind}_${ends.slice(0, 10)}`)].join('.');

const KINDS = { log: 'logs', audit: 'audit entries' } as const;

/** "Your plan changed. Logs will be kept for 3 days instead of 30. Export anything you want to keep before then." */
export function shrinkingWords(windows: readonly Shrinking[]): string {
  const parts = windows.map(
    ({ kind, days, days_then }, index) =>
      `${KINDS[kind]}${index === 0 ? ' will be kept' : ''} for ${days_then} ${days_then === 1 ? 'day' : 'days'} instead of ${days ?? 'forever'}`,
  );
  const sentence = parts.join(' and ');
  return `Your plan changed. ${sentence[0]?.toUpperCase()}${sentence.slice(1)}. Export anything you want to keep before then.`;
}
