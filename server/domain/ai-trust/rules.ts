import { type ClaimPatterns, claimPath, claimTexts } from '#server/domain/trust-bindings/claims.shared.ts';
import { matchesPattern, patternProblem } from '#server/domain/trust-bindings/patterns.shared.ts';
import { identityProblem, issuerProblem, providerOfIssuer } from '#server/domain/trust-bindings/providers.shared.ts';
import { assertCallableIssuer } from '#server/domain/trust-bindings/service.ts';
import { invalid } from '#server/kernel/errors.ts';
import { type ClaimRule, GATEWAY_AUDIENCE } from './schema.ts';

/** What has to hold of an issuer and the rules about its tokens. Looks the issuer's host up. @throws Refusal validation_error */
export async function assertTrustworthy(issuer: string, rules: readonly ClaimRule[]): Promise<void> {
  const provider = providerOfIssuer(issuer) ?? 'custom';
  const problem = issuerProblem(provider, issuer);
  if (problem !== null) throw invalid('issuer', problem);
  await assertCallableIssuer(issuer);
  rules.forEach(({ claim, op, value }, i) => {
    if (claimPath(claim) === null) throw invalid(`claim_rules[${i}].claim`, 'must be the name of a claim, or names joined by dots');
    if (CHECKED_ANYWAY.has(claim)) throw invalid(`claim_rules[${i}].claim`, 'is checked for every token: name one that says whose it is');
    const wrong = op === 'glob' ? patternProblem(value as string) : null;
    if (wrong !== null) throw invalid(`claim_rules[${i}].value`, wrong);
  });
  // Of a public issuer anybody has tokens, so something must say literally whose are meant.
  const identity = identityProblem(provider, { subject: subjectOf(rules), claims: claimsOf(rules) });
  if (identity !== null) throw invalid('claim_rules', identity);
}

const CHECKED_ANYWAY: ReadonlySet<string> = new Set(['iss', 'aud', 'exp', 'iat', 'nbf', 'jti']);

const patternOf = ({ value }: ClaimRule): ClaimPatterns => value;
const subjectOf = (rules: readonly ClaimRule[]): string | null => {
  const rule = rules.find(({ claim }) => claim === 'sub');
  // Of several subjects each must say it literally: the loosest stands for all.
  const patterns = rule === undefined ? [] : [rule.value].flat();
  return patterns.find((pattern) => pattern.includes('*')) ?? patterns[0] ?? null;
};
const claimsOf = (rules: readonly ClaimRule[]): Record<string, ClaimPatterns> =>
  Object.fromEntries(rules.filter(({ claim }) => claim !== 'sub').map((rule) => [rule.claim, patternOf(rule)]));

/** One rule with what the token has instead. */
export type Judged = { claim: string; op: string; expected: string[]; actual: string[]; matches: boolean };

/** Every rule of a binding and the audience, judged one by one. */
export function judgedRules(rules: readonly ClaimRule[], claims: Readonly<Record<string, unknown>>): Judged[] {
  const audiences = claimTexts(claims, 'aud');
  return [
    { claim: 'aud', op: 'eq', expected: [GATEWAY_AUDIENCE], actual: audiences, matches: audiences.includes(GATEWAY_AUDIENCE) },
    ...rules.map((rule) => {
      const actual = claimTexts(claims, rule.claim);
      const expected = [rule.value].flat();
      const matches = actual.some((text) => expected.some((one) => (rule.op === 'glob' ? matchesPattern(one, text) : one === text)));
      return { claim: rule.claim, op: rule.op, expected, actual, matches };
    }),
  ].map((one) => ({ ...one, actual: one.actual.map((text) => text.slice(0, 255)) }));
}
