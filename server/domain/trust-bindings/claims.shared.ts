import { matchesPattern } from './patterns.shared.ts';

// Which claim of a token a condition is about: names joined by dots, a name with dots or slashes in brackets and quotes:
// `environment`, `google.compute_engine.project_id`, `["oidc.circleci.com/project-id"]`, `["kubernetes.io"].namespace`.

export const LONGEST_PATH = 200;
const DEEPEST = 6;

/** The names of a path, outermost first; null for one that isn't a path. */
export function claimPath(path: string): string[] | null {
  if (path.length > LONGEST_PATH) return null;
  const names: string[] = [];
  let rest = path;
  while (rest !== '') {
    const quoted = rest.startsWith('["');
    if (!quoted && names.length > 0) {
      if (!rest.startsWith('.')) return null;
      rest = rest.slice(1);
    }
    const end = quoted ? rest.indexOf('"]', 2) : firstOf(rest, '.[');
    const name = quoted ? rest.slice(2, Math.max(2, end)) : rest.slice(0, end);
    if (end === -1 || name === '' || UNFIT.test(name)) return null;
    names.push(name);
    rest = rest.slice(quoted ? end + 2 : end);
  }
  return names.length > 0 && names.length <= DEEPEST ? names : null;
}

const UNFIT = /["\\\]\u0000-\u001f\u007f\s]/;

/** The position of the first of these characters, or the end. */
function firstOf(text: string, characters: string): number {
  const found = [...characters].map((one) => text.indexOf(one)).filter((at) => at !== -1);
  return Math.min(text.length, ...found);
}

/** The path of a claim as it is written, quoted only where it must be. */
export const pathOf = (names: readonly string[]): string =>
  names.map((name, i) => (/^[A-Za-z0-9_-]+$/.test(name) ? `${i === 0 ? '' : '.'}${name}` : `["${name}"]`)).join('');

/**
 * The texts that a claim has: its own, or those of a list's members. Numbers and booleans are compared as texts; a number too large to be exact, an
 * object and a missing claim have none.
 */
export function claimTexts(claims: Readonly<Record<string, unknown>>, path: string): string[] {
  let value: unknown = claims;
  for (const name of claimPath(path) ?? ['']) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return [];
    value = (value as Record<string, unknown>)[name];
  }
  return (Array.isArray(value) ? value.slice(0, MOST_MEMBERS) : [value]).flatMap(textOf);
}

const MOST_MEMBERS = 50;

function textOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'boolean') return [String(value)];
  return typeof value === 'number' && (Number.isSafeInteger(value) || !Number.isInteger(value)) ? [String(value)] : [];
}

/** Any of the patterns, or the only one. */
export type ClaimPatterns = string | string[];
export const patternsOf = (patterns: ClaimPatterns): readonly string[] => (typeof patterns === 'string' ? [patterns] : patterns);

/** What a binding asks of a token that its issuer signed. Null subject: its claims say who it is. */
export type Conditions = { audience: string; subject: string | null; claims: Readonly<Record<string, ClaimPatterns>> };

/** One condition with what the token has instead. `claim` is aud, sub or a path. */
export type Condition = { claim: string; expected: readonly string[]; actual: string[]; matches: boolean };

/** Every condition of a binding, judged one by one. */
export function conditionsOf(binding: Conditions, claims: Readonly<Record<string, unknown>>): Condition[] {
  const audiences = claimTexts(claims, 'aud');
  const judged = (claim: string, patterns: ClaimPatterns): Condition => {
    const actual = claimTexts(claims, claim);
    const expected = patternsOf(patterns);
    return { claim, expected, actual, matches: actual.some((text) => expected.some((pattern) => matchesPattern(pattern, text))) };
  };
  return [
    { claim: 'aud', expected: [binding.audience], actual: audiences, matches: audiences.includes(binding.audience) },
    ...(binding.subject === null ? [] : [judged('sub', binding.subject)]),
    ...Object.entries(binding.claims).map(([path, patterns]) => judged(path, patterns)),
  ];
}
