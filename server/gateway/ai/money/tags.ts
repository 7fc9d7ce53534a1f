import type { AiCall } from '../ai-call.ts';

const MOST_TAGS = 10;
const TAG = /^\s*([a-z0-9_.-]{1,40})=([\x20-\x2b\x2d-\x7e]{0,120})\s*$/;

/** The caller's labels, then the agent's, then those that the token signs: what is signed wins. */
export function tagsOf({ state: { tagsHeader, agent, principal } }: AiCall): Record<string, string> {
  const sent = (tagsHeader ?? '').split(',', MOST_TAGS).flatMap((pair) => {
    const found = TAG.exec(pair);
    return found ? [[found[1] as string, (found[2] as string).trim()] as const] : [];
  });
  return { ...Object.fromEntries(sent), ...agent?.tags, ...principal?.token.scope.tags };
}
