import { withoutCanary } from '#server/ai/firewall/canary.ts';
import type { Waits } from '#server/ai/stream/steps.ts';
import { askDetectors, MOST_HERE } from './ask.ts';

/** The texts without the markers, and whether there were any; on a thread unless they are short. @throws what `onThread` throws */
export function withoutMarkers(
  texts: readonly string[],
  codes: readonly string[],
  owner: string,
): Waits<{ texts: readonly string[]; leaked: boolean }> {
  if (codes.length === 0) return { texts, leaked: false };
  if (texts.reduce((sum, { length }) => sum + length, 0) <= MOST_HERE) {
    const cut = texts.map((text) => withoutCanary(text, codes));
    return { texts: cut.map(({ text }) => text), leaked: cut.some(({ leaked }) => leaked) };
  }
  return askDetectors({ job: 'canary', texts, codes }, owner).then(({ texts: cut, leaked }) => ({
    texts: texts.map((text, i) => cut[i] ?? text),
    leaked,
  }));
}
