import type { StreamGrammar } from '../shapes/adapter.ts';
import { chargeable, noUsage, outputTokens, type Sent, type Usage } from '../usage/usage.ts';
import type { StreamEvent } from './event.ts';

/** Counts a stream while it runs. It looks at the provider's events, before anything changes them. */
export type UsageMeter = {
  see: (event: StreamEvent) => void;
  /** True when the last event was one after which the stream may end. */
  complete: () => boolean;
  /** What the provider reported last, or an estimate of what was received (spec/51 §9.5). */
  usage: (sent: Sent) => Usage;
};

/** `answers`: how many answers the call asks for. */
export function usageMeter(grammar: StreamGrammar, answers = 1): UsageMeter {
  let finished = 0;
  let usage: Usage | undefined;
  let complete = false;
  let textBytes = 0;
  let failed = false;
  return {
    see(event) {
      usage = grammar.usage(event, usage);
      if (!complete) {
        finished += grammar.finished?.(event) ?? 0;
        complete = grammar.terminal(event) || finished >= answers;
      }
      // Its words are no answer.
      if (grammar.failure(event) !== undefined) failed = true;
      else textBytes += textBytesIn(event, grammar.textMembers);
    },
    complete: () => complete,
    usage(sent) {
      // A failed call without a count costs nothing (interface rule 51 §9.3).
      if (failed && usage === undefined && textBytes === 0) return noUsage;
      // A stream that broke off before the provider's count of its output knows its input only.
      const isShort = usage && !complete && outputTokens(usage) < Math.ceil(textBytes / 4);
      return chargeable(usage && isShort ? { ...usage, unread: [...(usage.unread ?? []), 'output'] } : usage, sent, textBytes);
    },
  };
}

const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;
const SPACE = 32;

/** Length of the strings behind these members in an event's bytes, escapes and all: close enough for an estimate, and without parsing. */
function textBytesIn({ raw }: StreamEvent, members: readonly string[]): number {
  if (!raw) return 0;
  let sum = 0;
  for (const member of members) {
    for (let at = raw.indexOf(member, 0, 'latin1'); at !== -1; at = raw.indexOf(member, at, 'latin1')) {
      at += member.length;
      while (raw[at] === COLON || raw[at] === SPACE) at++;
      if (raw[at] !== QUOTE) continue;
      const start = ++at;
      while (at < raw.length && raw[at] !== QUOTE) at += raw[at] === BACKSLASH ? 2 : 1;
      sum += at - start;
    }
  }
  return sum;
}
