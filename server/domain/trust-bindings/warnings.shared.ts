import { PERSON_FORBIDDEN_SCOPES } from '#server/kernel/scopes.ts';
import { hasWildcard, matchesPattern } from './patterns.shared.ts';
import { PROVIDERS, type ProviderName, type Trusted } from './providers.shared.ts';

/** The audience of this service's management API, which every workspace shares; with `:` and a slug behind it, that of one workspace. */
export const SHARED_AUDIENCE = 'service:api';

export type Warned = Trusted & { provider: ProviderName; issuer: string; audience: string; scopes: readonly string[] };

/** What is permitted and probably not meant. */
export function bindingWarnings(binding: Warned, { slug, step_up_scopes }: { slug: string; step_up_scopes: readonly string[] }): string[] {
  const { provider, issuer, audience, subject, scopes } = binding;
  const { label, issuers } = PROVIDERS[provider];
  const own = `${SHARED_AUDIENCE}:${slug}`;
  const warnings: string[] = [];
  if (audience === SHARED_AUDIENCE)
    warnings.push(`Every workspace can trust tokens for ${SHARED_AUDIENCE}. Use the audience ${own}, and have your workload ask for it.`);
  else if (audience.startsWith(`${SHARED_AUDIENCE}:`) && audience !== own)
    warnings.push(`The audience ${audience} names another workspace. Yours is ${own}.`);
  if (issuers.length > 0 && !issuers.some((pattern) => matchesPattern(pattern, issuer)))
    warnings.push(`${issuer} doesn't look like an issuer of ${label}. Make sure that only you control it.`);
  if (provider === 'github_actions' && !isNarrow(binding))
    warnings.push('Every branch and pull request of the repository can use this binding. Name a branch or an environment to narrow it.');
  if ((provider === 'custom' || provider === 'kubernetes') && (subject === null || hasWildcard(subject)))
    warnings.push('Any workload of this issuer with these claims can use this binding. A subject without wildcards names one.');
  const plaintext = scopes.filter((scope) => PERSON_FORBIDDEN_SCOPES.includes(scope));
  if (plaintext.length > 0)
    warnings.push(`Tokens of this binding can get at plaintext or private keys: ${plaintext.join(', ')}. People's tokens never can.`);
  const dropped = scopes.filter((scope) => step_up_scopes.includes(scope));
  if (dropped.length > 0)
    warnings.push(`These scopes take a person's second factor, so exchanged tokens never have them: ${dropped.join(', ')}.`);
  return warnings;
}

/** Whether a binding for GitHub Actions takes tokens of some branches, environments or workflows only. */
function isNarrow({ subject, claims }: Trusted): boolean {
  if (subject !== null && !hasWildcard(subject) && !subject.endsWith(':pull_request')) return true;
  if (subject !== null && /^repo:[^*]*:(?:ref|environment):[^*]/.test(subject)) return true;
  return ['ref', 'environment', 'job_workflow_ref', 'ref_protected'].some((name) => Object.hasOwn(claims, name));
}
