import { carriesSecret } from '#components/explorer/draft.ts';
import { queryText } from '#components/shell/query-text.ts';
import { isTelling } from '#components/trpc/drafts.ts';
import { MASK, masked } from '#server/domain/explorer/masking.shared.ts';
import type { Command } from './commands.ts';
import { ASKED, type Walked } from './parse-words.ts';
import type { Token } from './tokens.ts';

/** A line as it may stand on the page, and as it may be kept for the next time: undefined when it must not be. */
export type RedactedLine = { echo: string; kept: string | undefined };
type Span = { start: number; end: number; isAsked: boolean };

/**
 * What of a line may be shown and kept. The value of a secret field is not: it is asked for again. A line that holds anything else that looks like a
 * credential, or that was typed into a field which may carry one, is not kept at all.
 */
export function redactLine(line: string, tokens: readonly Token[], command: Command, { given }: Walked): RedactedLine {
  const spans: Span[] = [];
  for (const { flag, value, name } of given) {
    if (!value) continue;
    if (flag?.isSecret) spans.push({ ...value, isAsked: true });
    else if (flag ? carriesSecret(flag.field.schema) : name === 'json' && takesSecret(command)) spans.push({ ...value, isAsked: false });
  }
  for (const token of tokens)
    if (isPrivate(token.text) && !spans.some(({ start, end }) => start < token.end && token.start < end))
      spans.push({ ...token, isAsked: false });
  spans.sort((a, b) => a.start - b.start);
  const kept = spans.every(({ isAsked }) => isAsked) ? replaced(line, spans, ASKED) : undefined;
  const echo = masked(replaced(line, spans, MASK), new Set()) as string;
  return { echo, kept: kept !== undefined && masked(kept, new Set()) === kept ? kept : undefined };
}

const takesSecret = ({ op }: Command) => op.inBody.some(({ schema }) => carriesSecret(schema));

/** Whether a word looks like a credential, holds one, or is JSON with one in it. */
export function isPrivate(text: string): boolean {
  if (queryText(text).credential || isTelling(text)) return true;
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    return isTelling(JSON.parse(text));
  } catch {
    return false; // not JSON; it was looked at as text
  }
}

function replaced(line: string, spans: readonly Span[], by: string): string {
  let out = '';
  let at = 0;
  for (const { start, end } of spans) {
    out += line.slice(at, start) + by;
    at = end;
  }
  return out + line.slice(at);
}
