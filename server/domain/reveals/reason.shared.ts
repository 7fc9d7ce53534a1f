import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';

const LONGEST = 500;
/** Control characters, line separators, and marks that change the direction of the text after them. */
const INVISIBLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Why a person reveals something, as they say in X-Reveal-Reason (interface rule 32 §5.2). Undefined when they don't say; `missing` is what they are told
 * where they have to.
 * @throws Refusal invalid, reveal_reason_required
 */
export function reasonOf({ reveal_reason = '' }: Pick<Ctx, 'reveal_reason'>, required: boolean, missing = NO_REASON): string | undefined {
  const reason = decoded(reveal_reason).replace(INVISIBLE, '').trim();
  if (reason.length > LONGEST) throw new Refusal('invalid', `X-Reveal-Reason: must be at most ${LONGEST} characters`);
  if (reason !== '') return reason;
  if (required) throw new Refusal('reveal_reason_required', missing);
  return undefined;
}

const NO_REASON = 'This workspace asks for a reason. Say why you need this value.';

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refusal('invalid', 'X-Reveal-Reason: must be percent-encoded UTF-8; write % as %25');
  }
}
