import { passingConversationKey } from '#server/crypto/pii-keys.ts';
import { candidates } from './detect.ts';
import type { CompiledPolicy } from './policy.ts';
import { applied } from './rewrite.ts';
import { type Span, winners } from './span.ts';
import { createTokenizer } from './tokenizer.ts';

/** A match as a tester shows it. */
export type ShownMatch = Span & { matched: string; replacement: string };

/** What a policy does to a text: each match with its replacement, the result, and what is exempt from all other detectors. */
export type Shown = { matches: ShownMatch[]; result: string; exempt: Span[] };

/** Shows a text of a request. Tokens are of a conversation that never was. */
export function shownMatches(text: string, policy: CompiledPolicy): Shown {
  const tokenizer = createTokenizer(passingConversationKey());
  const all = candidates(text, policy);
  const matches = winners(all).map((span) => {
    const matched = text.slice(span.start, span.end);
    const { action, entity, format } = span;
    const replacement = action === 'redact' ? `<${entity}>` : action === 'tokenize' ? tokenizer.tokenOf(entity, format, matched) : matched;
    return { ...span, matched, replacement };
  });
  const edits = matches.map(({ start, end, replacement }) => ({ start, end, replacement, counted: undefined }));
  const exempt = all.filter(({ action }) => action === 'whitelist');
  return { matches, result: applied(text, 0, text.length, edits, new Map()), exempt };
}
