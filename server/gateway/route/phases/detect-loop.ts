import { members } from '#server/kernel/list-header.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import { PSEUDONYM } from '../../core/upstream-headers.ts';
import type { RouteCall } from '../route-call.ts';

/** Step 9: a call that came through a gateway already is going round in a circle. */
export function detectLoop(call: RouteCall): Refused | undefined {
  if (call.via !== null && passedThrough(call.via))
    return refused('loop_detected', 'Loop detected: this call has already passed through the gateway.');
  return undefined;
}

/** Whether an element of Via names us as a whole: other gateways may have our name in theirs. Compared part by part, since callers choose up to 32 KiB of it. */
function passedThrough(via: string): boolean {
  const elements = via.toLowerCase();
  return elements.includes(PSEUDONYM) && members(elements).some((element) => /^\S+\s+svc-gateway(?::\d+)?(?:[\s(]|$)/.test(element));
}
