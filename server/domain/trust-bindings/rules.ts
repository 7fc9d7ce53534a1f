import type { z } from 'zod';
import { invalid } from '#server/kernel/errors.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { egress } from '#server/platform/egress.ts';
import { parseTarget } from '#server/platform/http-out/target-url.ts';
import { type ClaimPatterns, claimPath, pathOf, patternsOf } from './claims.shared.ts';
import { hasWildcard } from './patterns.shared.ts';
import { identityProblem, issuerProblem, PROVIDERS, type ProviderName } from './providers.shared.ts';
import type { CreateTrustBinding } from './schema.ts';
import { SHARED_AUDIENCE } from './warnings.shared.ts';

/** Matching walks every pattern with a wildcard for every claim of an unknown caller's token. */
const MOST_WILDCARD_CHARACTERS = 1024;

type Settings = Omit<z.output<typeof CreateTrustBinding>, 'id' | 'name' | 'scopes'>;
export type Defined = ReturnType<typeof defined>;

/** A binding with every setting that was left out; those of `before` stand for an edit. */
export function defined(input: Partial<Settings> & { provider: ProviderName }, before?: Omit<Required<Settings>, 'provider'>) {
  const { provider } = input;
  const preset = PROVIDERS[provider];
  return {
    provider,
    issuer: input.issuer ?? before?.issuer ?? preset.issuer ?? '',
    audience: input.audience ?? before?.audience ?? SHARED_AUDIENCE,
    subject: input.subject === undefined ? (before?.subject ?? null) : input.subject,
    claims: input.claims ? normalised(input.claims) : (before?.claims ?? {}),
    ttl_seconds: input.ttl_seconds ?? before?.ttl_seconds ?? 3600,
    single_use: input.single_use ?? before?.single_use ?? preset.single_use,
    enabled: input.enabled ?? before?.enabled ?? true,
  };
}

/** One spelling per claim, one pattern as a text. @throws Refusal validation_error for a claim that stands twice or isn't a condition's */
function normalised(claims: Readonly<Record<string, ClaimPatterns>>): Record<string, ClaimPatterns> {
  const found = new Map<string, ClaimPatterns>();
  for (const [given, patterns] of Object.entries(claims)) {
    const path = pathOf(claimPath(given) ?? []);
    const why = CHECKED_ANYWAY[path];
    if (why !== undefined) throw invalid('claims', `${path} ${why}`);
    if (found.has(path)) throw invalid('claims', `${path} is named twice`);
    const unique = [...new Set(patternsOf(patterns))];
    found.set(path, unique.length === 1 ? (unique[0] as string) : unique);
  }
  return Object.fromEntries(found);
}

const TIMES = 'is checked for every token: name a claim that says which workload it is';
const CHECKED_ANYWAY: Readonly<Record<string, string>> = {
  iss: 'has a field of its own: issuer',
  aud: 'has a field of its own: audience',
  sub: 'has a field of its own: subject',
  exp: TIMES,
  iat: TIMES,
  nbf: TIMES,
};

/** What has to hold among the settings of one binding. @throws Refusal validation_error */
export async function assertTrustworthy({ provider, issuer, subject, claims }: Defined): Promise<void> {
  if (issuer === '') throw invalid('issuer', `is required for ${PROVIDERS[provider].label}, such as ${PROVIDERS[provider].issuer_example}`);
  const problem = issuerProblem(provider, issuer);
  if (problem !== null) throw invalid('issuer', problem);
  await assertCallable(issuer);
  const identity = identityProblem(provider, { subject, claims });
  if (identity !== null) throw invalid(subject === null ? 'claims' : 'subject', identity);
  const wildcards = [...(subject === null ? [] : [subject]), ...Object.values(claims).flatMap(patternsOf)].filter(hasWildcard);
  if (wildcards.join('').length > MOST_WILDCARD_CHARACTERS)
    throw invalid('claims', `must have at most ${grouped(MOST_WILDCARD_CHARACTERS)} characters in patterns with wildcards`);
}

/** Names are judged now and addresses at every fetch. https, but for hosts that the operator opened to http. */
export async function assertCallable(issuer: string): Promise<void> {
  const target = parseTarget(issuer, egress().settings);
  if (!target.ok) throw invalid('issuer', target.message);
  if (target.hasVariables) throw invalid('issuer', 'must be a URL without variables');
  if (target.target.scheme === 'https') return;
  const lookup = await egress().lookup(target.target.host, target.target.port);
  if (!lookup.ok || !lookup.exempt)
    throw invalid('issuer', 'must use https; http is only allowed for hosts that the operator lists in UPSTREAM_PRIVATE_ALLOWLIST');
}
