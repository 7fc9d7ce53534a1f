import type { ClaimRule } from '#server/domain/ai-trust/schema.ts';

// Rules as somebody types them: one per line, `claim = value`. A value with * is a pattern; values of a list are separated by commas in brackets.

export const linesOf = (rules: readonly ClaimRule[]): string =>
  rules.map(({ claim, value }) => `${claim} = ${Array.isArray(value) ? `[${value.join(', ')}]` : value}`).join('\n');

export function rulesOf(text: string): ClaimRule[] {
  return linesIn(text).flatMap((line) => ruleOf(line) ?? []);
}

/** What is wrong with the text; null when it says at least one rule. */
export function linesProblem(text: string): string | null {
  const lines = linesIn(text);
  if (lines.length === 0) return 'add at least one rule';
  const bad = lines.find((line) => ruleOf(line) === undefined);
  return bad === undefined ? null : `“${bad}” is no rule. Write it as claim = value.`;
}

function ruleOf(line: string): ClaimRule | undefined {
  const at = line.indexOf('=');
  const [claim, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  if (at < 1 || value === '') return undefined;
  if (/^\[.*\]$/.test(value)) {
    const values = value
      .slice(1, -1)
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean);
    return values.length === 0 ? undefined : { claim, op: 'in', value: values };
  }
  return { claim, op: value.includes('*') ? 'glob' : 'eq', value };
}

const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
