/** A window of a workspace's logs that becomes smaller: days now, days from `ends` on. */
export type Shrinking = { kind: 'log' | 'audit'; days: number | null; days_then: number; ends: string };

export const SHRINKING_COOKIE = 'sp_seen_shrinking';

/** Which notice was put away; another workspace or another end is another notice. */
export const shrinkingMark = (slug: string, windows: readonly Shrinking[]): string =>
  [slug, ...windows.map(({ kind, ends }) => `${kind}_${ends.slice(0, 10)}`)].join('.');

const KINDS = { log: 'calls', audit: 'audit entries' } as const;

/** "The plan became smaller: calls are then kept for 3 days instead of 30. Export before that what you want to keep." */
export function shrinkingWords(windows: readonly Shrinking[]): string {
  const parts = windows.map(
    ({ kind, days, days_then }, index) =>
      `${KINDS[kind]} ${index === 0 ? 'are then kept' : ''} for ${days_then} ${days_then === 1 ? 'day' : 'days'} instead of ${days ?? 'for ever'}`,
  );
  return `The plan became smaller: ${parts.join(' and ').replace(/ {2,}/g, ' ')}. Export before that what you want to keep.`;
}
