import { type ClaimPatterns, patternsOf } from '#server/domain/trust-bindings/claims.shared.ts';

// Claims as somebody types them: one condition per line, `claim = pattern`. Lines of the same claim are alternatives.

export const linesOf = (claims: Readonly<Record<string, ClaimPatterns>>): string =>
  Object.entries(claims)
    .flatMap(([claim, patterns]) => patternsOf(patterns).map((pattern) => `${claim} = ${pattern}`))
    .join('\n');

/** The claims of the text. A line without a condition is left to `linesProblem`. */
export function claimsOf(text: string): Record<string, ClaimPatterns> {
  const found = new Map<string, string[]>();
  for (const line of linesIn(text)) {
    const { claim, pattern } = conditionIn(line);
    if (claim !== '' && pattern !== '') found.set(claim, [...(found.get(claim) ?? []), pattern]);
  }
  return Object.fromEntries([...found].map(([claim, patterns]) => [claim, patterns.length === 1 ? (patterns[0] as string) : patterns]));
}

export function linesProblem(text: string): string | null {
  const bad = linesIn(text).find((line) => {
    const { claim, pattern } = conditionIn(line);
    return claim === '' || pattern === '';
  });
  return bad === undefined ? null : `“${bad}” is no condition. Write it as claim = pattern.`;
}

const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** A quoted name may hold an equals sign; a pattern may too. */
function conditionIn(line: string): { claim: string; pattern: string } {
  const at = line.indexOf('=', line.startsWith('["') ? Math.max(0, line.indexOf('"]')) : 0);
  return at === -1 ? { claim: '', pattern: '' } : { claim: line.slice(0, at).trim(), pattern: line.slice(at + 1).trim() };
}
