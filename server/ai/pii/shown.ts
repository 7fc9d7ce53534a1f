import { passingConversationKey } from '#server/crypto/pii-keys.ts';
import { detect } from './detect.ts';
import type { CompiledPolicy } from './policy.ts';
import { applied } from './rewrite.ts';
import type { Span } from './span.ts';
import { createTokenizer } from './tokenizer.ts';

/** A match as a tester shows it. */
export type ShownMatch = Span & { matched: string; replacement: string };

/** What a policy does to a text of a request: each match with its replacement, and the result. Tokens are of a conversation that never was. */
export function shownMatches(text: string, policy: CompiledPolicy): { matches: ShownMatch[]; result: string } {
  const tokenizer = createTokenizer(passingConversationKey());
  const matches = detect(text, policy).map((span) => {
    const matched = text.slice(span.start, span.end);
    const { action, entity, format } = span;
    const replacement = action === 'redact' ? `<${entity}>` : action === 'tokenize' ? tokenizer.tokenOf(entity, format, matched) : matched;
    return { ...span, matched, replacement };
  });
  const edits = matches.map(({ start, end, replacement }) => ({ start, end, replacement, counted: undefined }));
  return { matches, result: applied(text, 0, text.length, edits, new Map()) };
}
