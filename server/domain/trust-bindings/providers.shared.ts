import { type ClaimPatterns, patternsOf } from './claims.shared.ts';
import { hasWildcard, literalPrefix, matchesPattern } from './patterns.shared.ts';

// Platforms that give their workloads signed tokens (interface rule 21 §5). Data: forms, the rules of saving and the documentation read it.

export const PROVIDER_NAMES = [
  'github_actions',
  'gitlab',
  'gcp',
  'aws_eks',
  'aws_sts',
  'azure',
  'vercel',
  'circleci',
  'buildkite',
  'kubernetes',
  'custom',
] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/**
 * What says which workload a token is from, and so must be literal. `subject` is its form, with `*` for each part that the provider fills in and anything
 * behind it free; `*` alone is the whole subject. `claim` is one claim, `beside` what that claim is worthless without.
 */
export type Identity = { subject: string } | { claim: string; beside?: Readonly<Record<string, string>> };

export type Provider = {
  label: string;
  /** Patterns of its issuers: no other provider may claim one. Empty when every installation has its own. */
  issuers: readonly string[];
  /** Filled in when there is only one. */
  issuer: string | null;
  /** Shown where somebody has to look it up. */
  issuer_example: string;
  /** The provider writes its issuer with a slash at the end. */
  trailing_slash?: true;
  /** Any of them. */
  identity: readonly Identity[];
  /** Claims that are worth a condition. */
  claims: readonly string[];
  /** When the audience isn't the workflow's choice: what it is. */
  audience_note?: string;
  /** Tokens are minted for one job, so that presenting one twice is a replay. */
  single_use: boolean;
  example: { subject: string | null; claims: Readonly<Record<string, string>> };
};

export const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  github_actions: {
    label: 'GitHub Actions',
    issuers: ['https://token.actions.githubusercontent.com', 'https://token.actions.githubusercontent.com/*'],
    issuer: 'https://token.actions.githubusercontent.com',
    issuer_example: 'https://token.actions.githubusercontent.com',
    identity: [{ subject: 'repo:*/*' }, { claim: 'repository' }, { claim: 'repository_id' }, { claim: 'repository_owner_id' }],
    claims: ['ref', 'environment', 'job_workflow_ref', 'event_name', 'workflow', 'actor', 'repository_owner_id', 'repository_id'],
    single_use: true,
    example: { subject: 'repo:acme/app:ref:refs/heads/main', claims: { repository_owner_id: '1234567' } },
  },
  gitlab: {
    label: 'GitLab CI/CD',
    issuers: ['https://gitlab.com'],
    issuer: 'https://gitlab.com',
    issuer_example: 'https://gitlab.com',
    identity: [{ claim: 'project_path' }, { claim: 'project_id' }, { claim: 'namespace_path' }],
    claims: ['project_path', 'project_id', 'namespace_path', 'ref', 'ref_type', 'ref_protected', 'environment', 'pipeline_source'],
    single_use: false,
    example: { subject: null, claims: { project_path: 'acme/app', ref: 'main', ref_protected: 'true' } },
  },
  gcp: {
    label: 'Google Cloud',
    issuers: ['https://accounts.google.com'],
    issuer: 'https://accounts.google.com',
    issuer_example: 'https://accounts.google.com',
    identity: [{ subject: '*' }, { claim: 'email', beside: { email_verified: 'true' } }],
    claims: ['email', 'email_verified', 'google.compute_engine.project_id', 'google.compute_engine.instance_id'],
    single_use: false,
    example: { subject: '113774264463038321964', claims: {} },
  },
  aws_eks: {
    label: 'Amazon EKS',
    issuers: ['https://oidc.eks.*.amazonaws.com/id/*', 'https://oidc.eks.*.amazonaws.com.cn/id/*'],
    issuer: null,
    issuer_example: 'https://oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE',
    identity: [{ subject: 'system:serviceaccount:*:*' }],
    claims: ['["kubernetes.io"].namespace'],
    audience_note: 'Token files of IAM roles for service accounts have the audience sts.amazonaws.com.',
    single_use: false,
    example: { subject: 'system:serviceaccount:production:deployer', claims: {} },
  },
  aws_sts: {
    label: 'AWS STS',
    issuers: ['https://*.tokens.sts.global.api.aws'],
    issuer: null,
    issuer_example: 'https://00000000-0000-0000-0000-000000000000.tokens.sts.global.api.aws',
    identity: [{ subject: '*' }],
    claims: ['["https://sts.amazonaws.com/"].aws_account', '["https://sts.amazonaws.com/"].org_id'],
    single_use: false,
    example: { subject: 'arn:aws:iam::123456789012:role/deployer', claims: {} },
  },
  azure: {
    label: 'Microsoft Azure',
    issuers: ['https://login.microsoftonline.com/*/v2.0', 'https://sts.windows.net/*/'],
    issuer: null,
    issuer_example: 'https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/v2.0',
    trailing_slash: true,
    identity: [{ claim: 'oid' }, { subject: '*' }],
    claims: ['oid', 'appid', 'azp', 'xms_mirid'],
    audience_note: 'The audience is the application ID, or its URI, that the workload asks a token for.',
    single_use: false,
    example: { subject: null, claims: { oid: '0a3d5f6e-1c2b-4d5e-8f90-a1b2c3d4e5f6' } },
  },
  vercel: {
    label: 'Vercel',
    issuers: ['https://oidc.vercel.com', 'https://oidc.vercel.com/*'],
    issuer: null,
    issuer_example: 'https://oidc.vercel.com/acme',
    identity: [{ subject: 'owner:*:project:*' }],
    claims: ['environment', 'project_id', 'owner_id'],
    audience_note: 'The audience is https://vercel.com/ and the name of your team.',
    single_use: false,
    example: { subject: 'owner:acme:project:web:environment:production', claims: {} },
  },
  circleci: {
    label: 'CircleCI',
    issuers: ['https://oidc.circleci.com/org/*'],
    issuer: null,
    issuer_example: 'https://oidc.circleci.com/org/00000000-0000-0000-0000-000000000000',
    identity: [{ claim: '["oidc.circleci.com/project-id"]' }],
    claims: ['["oidc.circleci.com/project-id"]', '["oidc.circleci.com/context-ids"]', '["oidc.circleci.com/vcs-ref"]'],
    audience_note: 'The audience is the ID of your organization, unless a job asks for another.',
    single_use: false,
    example: { subject: null, claims: { '["oidc.circleci.com/project-id"]': '6b1c8f0a-92f1-4e0a-a5d9-2c1f7f8f4b11' } },
  },
  buildkite: {
    label: 'Buildkite',
    issuers: ['https://agent.buildkite.com'],
    issuer: 'https://agent.buildkite.com',
    issuer_example: 'https://agent.buildkite.com',
    identity: [{ subject: 'organization:*:pipeline:*' }],
    claims: ['build_branch', 'step_key', 'pipeline_slug', 'organization_slug'],
    single_use: false,
    example: { subject: 'organization:acme:pipeline:deploy:**', claims: { build_branch: 'main' } },
  },
  kubernetes: {
    label: 'Kubernetes',
    issuers: [],
    issuer: null,
    issuer_example: 'https://kubernetes.example.com',
    identity: [{ subject: '*' }, { claim: '*' }],
    claims: ['["kubernetes.io"].namespace', '["kubernetes.io"].serviceaccount.name'],
    single_use: false,
    example: { subject: 'system:serviceaccount:production:deployer', claims: {} },
  },
  custom: {
    label: 'Another issuer',
    issuers: [],
    issuer: null,
    issuer_example: 'https://issuer.example.com',
    trailing_slash: true,
    identity: [{ subject: '*' }, { claim: '*' }],
    claims: [],
    single_use: false,
    example: { subject: 'deployer@production', claims: {} },
  },
};

/** Whose issuer this is, of those with issuers of their own. */
export const providerOfIssuer = (issuer: string): ProviderName | undefined =>
  PROVIDER_NAMES.find((name) => PROVIDERS[name].issuers.some((pattern) => matchesPattern(pattern, issuer)));

/** Why a provider can't have this issuer, or null. The rules of a shared issuer hold whatever somebody calls it. */
export function issuerProblem(provider: ProviderName, issuer: string): string | null {
  const url = URL.parse(issuer);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be a URL such as https://issuer.example.com';
  if (issuer.includes('?') || issuer.includes('#')) return 'must have no query and no fragment';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  const owner = providerOfIssuer(issuer);
  if (owner !== undefined && owner !== provider) return `is the issuer of ${PROVIDERS[owner].label}: choose the provider ${owner}`;
  if (issuer.endsWith('/') && PROVIDERS[provider].trailing_slash === undefined)
    return `must not end in a slash: ${PROVIDERS[provider].label} writes it without one`;
  return null;
}

export type Trusted = { subject: string | null; claims: Readonly<Record<string, ClaimPatterns>> };

/** Why a binding would trust more than one workload's worth, or null: nothing says literally whose tokens it takes. */
export function identityProblem(provider: ProviderName, trusted: Trusted): string | null {
  const { identity, label } = PROVIDERS[provider];
  if (identity.some((one) => isLiteral(one, trusted))) return null;
  return `must say literally whose tokens are trusted. For ${label} that is ${identity.map(inWords).join(', or ')}`;
}

function isLiteral(identity: Identity, { subject, claims }: Trusted): boolean {
  if ('subject' in identity) return subject !== null && isLiteralSubject(identity.subject, subject);
  const names = identity.claim === '*' ? Object.keys(claims) : [identity.claim];
  return (
    names.some((name) => isLiteralClaim(claims, name)) &&
    Object.entries(identity.beside ?? {}).every(([name, value]) => claims[name] !== undefined && String(claims[name]) === value)
  );
}

const isLiteralClaim = (claims: Trusted['claims'], name: string): boolean =>
  Object.hasOwn(claims, name) && !patternsOf(claims[name] as ClaimPatterns).some(hasWildcard);

/** The form, literally, at the end of the subject or in front of a colon. */
function isLiteralSubject(form: string, subject: string): boolean {
  if (form === '*') return !hasWildcard(subject);
  return (!hasWildcard(subject) && matchesPattern(form, subject)) || matchesPattern(`${form}:**`, literalPrefix(subject));
}

function inWords(identity: Identity): string {
  if ('subject' in identity)
    return identity.subject === '*' ? 'a subject without wildcards' : `a subject that begins with ${identity.subject}, each * filled in`;
  if (identity.claim === '*') return 'a claim without wildcards';
  const beside = Object.entries(identity.beside ?? {}).map(([name, value]) => ` with ${name} ${value}`);
  return `the claim ${identity.claim}${beside.join('')} without wildcards`;
}
