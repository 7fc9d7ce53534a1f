/** A word of a line as it is meant, where it stands in the line, and whether it begins with a quote: such a word is never a flag. */
export type Token = { text: string; start: number; end: number; quoted: boolean };

/** More is no line that hands typed, and would only be slow to show. */
export const LONGEST_LINE = 20_000;

/**
 * The words of a line as a POSIX shell splits them: 'all of it as it stands', "with \" and \\ in it", and \ before anything else. A quote that is not
 * closed is told in `unclosed`; its word goes to the end. Nothing is ever expanded. One pass: no line makes it slow.
 */
export function tokensOf(line: string): { tokens: Token[]; unclosed?: '"' | "'" } {
  const tokens: Token[] = [];
  let word: Token | undefined;
  let quote: '"' | "'" | undefined;
  for (let i = 0; i < line.length; i++) {
    const char = line.charAt(i);
    if (!quote && /\s/.test(char)) {
      if (word) tokens.push({ ...word, end: i });
      word = undefined;
      continue;
    }
    word ??= { text: '', start: i, end: i, quoted: false };
    if (quote ? char === quote : char === '"' || char === "'") {
      quote = quote ? undefined : (char as '"' | "'");
      if (i === word.start) word.quoted = true;
    } else if (char === '\\' && quote !== "'" && i + 1 < line.length && (!quote || /["\\]/.test(line.charAt(i + 1)))) {
      word.text += line.charAt(++i);
    } else word.text += char;
  }
  if (word) tokens.push({ ...word, end: line.length });
  return { tokens, ...(quote ? { unclosed: quote } : {}) };
}

/** A value as one word of a line; one that begins with a dash as no flag. */
export const quoted = (value: string): string => (/^(?!-.)[\w@%+:,./=-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`);
