import assert from 'node:assert/strict';
import test from 'node:test';
import { type Conditions, claimPath, claimTexts, conditionsOf, pathOf } from './claims.shared.ts';
import { matchesPattern, patternProblem } from './patterns.shared.ts';
import { identityProblem, issuerProblem, PROVIDER_NAMES, PROVIDERS, type ProviderName } from './providers.shared.ts';
import { bindingWarnings } from './warnings.shared.ts';

test('a single star stays between colons and slashes; two cross them', () => {
  const cases: [string, string, boolean][] = [
    ['repo:acme/app:ref:refs/heads/main', 'repo:acme/app:ref:refs/heads/main', true],
    ['repo:acme/app:ref:refs/heads/main', 'repo:acme/app:ref:refs/heads/main2', false],
    ['repo:acme/app:ref:refs/heads/main', 'Repo:acme/app:ref:refs/heads/main', false],
    ['repo:acme/app:ref:refs/heads/*', 'repo:acme/app:ref:refs/heads/main', true],
    ['repo:acme/app:ref:refs/heads/*', 'repo:acme/app:ref:refs/heads/feature/x', false],
    ['repo:acme/app:ref:refs/heads/**', 'repo:acme/app:ref:refs/heads/feature/x', true],
    ['repo:acme/app:*', 'repo:acme/app:ref:refs/heads/main', false],
    ['repo:acme/app:*', 'repo:acme/app:pull_request', true],
    ['repo:acme/app:**', 'repo:acme/app:ref:refs/heads/main', true],
    ['repo:acme/app:**', 'repo:acme/app-evil:ref:refs/heads/main', false],
    ['release-*-final', 'release--final', true],
    ['release-*', 'xrelease-1', false],
    ['a.c', 'abc', false],
    ['(a+)+$', 'aaaa', false],
    ['***', 'a:/b', true],
  ];
  for (const [pattern, text, expected] of cases) assert.equal(matchesPattern(pattern, text), expected, `${pattern} on ${text}`);
});

test('a pattern that is empty, endless or only wildcards is refused', () => {
  for (const bad of ['', '*', '**', '*:*', '**/**', 'a\nb', 'x'.repeat(256)])
    assert.notEqual(patternProblem(bad), null, JSON.stringify(bad));
  for (const good of ['a', 'repo:acme/**', '*.example']) assert.equal(patternProblem(good), null, good);
});

test('claim paths name nested claims and claims with dots', () => {
  assert.deepEqual(claimPath('google.compute_engine.project_id'), ['google', 'compute_engine', 'project_id']);
  assert.deepEqual(claimPath('["oidc.circleci.com/project-id"]'), ['oidc.circleci.com/project-id']);
  assert.deepEqual(claimPath('["kubernetes.io"].namespace'), ['kubernetes.io', 'namespace']);
  assert.deepEqual(claimPath('a["b"]["c"].d'), ['a', 'b', 'c', 'd']);
  for (const bad of ['', '.', 'a.', '.a', 'a..b', '["a', '[a]', 'a]b', '["a"]b', '["a\\"b"]', 'a b', 'a'.repeat(201), 'a.b.c.d.e.f.g'])
    assert.equal(claimPath(bad), null, bad);
  for (const path of ['a.b', '["a.b"].c', 'a["b/c"]']) assert.equal(pathOf(claimPath(path) ?? []), path);
  assert.equal(pathOf(claimPath('["repository"]') ?? []), 'repository', 'one spelling per claim');
});

test('numbers and booleans are compared as texts, lists by their members, and what is inexact or inherited never', () => {
  const claims = JSON.parse(
    '{"n":42,"yes":true,"big":9007199254740993,"list":["a","b",{"c":1}],"nested":{"x.y":{"z":"deep"}},"none":null,"o":{},"__proto__":{"admin":"1"}}',
  ) as Record<string, unknown>;
  assert.deepEqual(claimTexts(claims, 'n'), ['42']);
  assert.deepEqual(claimTexts(claims, 'yes'), ['true']);
  assert.deepEqual(claimTexts(claims, 'list'), ['a', 'b']);
  assert.deepEqual(claimTexts(claims, 'nested["x.y"].z'), ['deep']);
  for (const path of ['big', 'none', 'o', 'list.0', 'list.length', 'toString', 'constructor.name', 'nested.z', 'n.toFixed'])
    assert.deepEqual(claimTexts(claims, path), [], path);
});

test('every condition must hold, any pattern of one suffices, and a missing claim matches nothing', () => {
  const binding: Conditions = {
    audience: 'service:api',
    subject: 'repo:acme/app:**',
    claims: { environment: ['staging', 'prod-*'], repository_owner_id: '77' },
  };
  const token = {
    aud: ['other', 'service:api'],
    sub: 'repo:acme/app:environment:prod-eu',
    environment: 'prod-eu',
    repository_owner_id: 77,
  };
  const failing = (claims: object) => conditionsOf(binding, { ...claims }).flatMap(({ claim, matches }) => (matches ? [] : [claim]));
  assert.deepEqual(failing(token), []);
  assert.deepEqual(failing({ ...token, aud: 'service:api' }), []);
  assert.deepEqual(failing({ ...token, aud: 'service:api:acme' }), ['aud']);
  assert.deepEqual(failing({ ...token, environment: undefined }), ['environment']);
  assert.deepEqual(failing({ ...token, environment: 'dev', repository_owner_id: '78' }), ['environment', 'repository_owner_id']);
  assert.deepEqual(failing({}), ['aud', 'sub', 'environment', 'repository_owner_id']);
  // A wildcard is no wildcard in an audience.
  assert.equal(conditionsOf({ ...binding, audience: '*' }, token)[0]?.matches, false);
});

test("every provider's example is one it accepts", () => {
  for (const name of PROVIDER_NAMES) {
    const { issuer_example, example } = PROVIDERS[name];
    assert.equal(issuerProblem(name, issuer_example), null, name);
    assert.equal(identityProblem(name, example), null, name);
    for (const path of [...PROVIDERS[name].claims, ...Object.keys(example.claims)])
      assert.equal(pathOf(claimPath(path) ?? []), path, `${name} ${path}`);
  }
});

test('what says whose tokens are trusted must be literal', () => {
  const cases: [ProviderName, string | null, Record<string, string | string[]>, boolean][] = [
    ['github_actions', 'repo:acme/app:ref:refs/heads/main', {}, true],
    ['github_actions', 'repo:acme/app:**', {}, true],
    ['github_actions', 'repo:acme/app', {}, true],
    ['github_actions', 'repo:acme*', {}, false],
    ['github_actions', 'repo:acme/*', {}, false],
    ['github_actions', 'repo:acme/app*', {}, false],
    ['github_actions', 'repo:*/app:ref:refs/heads/main', {}, false],
    ['github_actions', null, {}, false],
    ['github_actions', null, { event_name: 'push' }, false],
    ['github_actions', 'repo:acme/**', { repository_owner_id: '77' }, true],
    ['github_actions', null, { repository: 'acme/app' }, true],
    ['github_actions', null, { repository: ['acme/app', 'acme/*'] }, false],
    ['gitlab', 'project_path:acme/app:ref_type:branch:ref:main', {}, false],
    ['gitlab', null, { project_path: 'acme/app' }, true],
    ['gitlab', null, { project_path: 'acme/*' }, false],
    ['gcp', '1137*', {}, false],
    ['gcp', null, { email: 'a@b.iam.gserviceaccount.com' }, false],
    ['gcp', null, { email: 'a@b.iam.gserviceaccount.com', email_verified: 'true' }, true],
    ['aws_eks', 'system:serviceaccount:prod:*', {}, false],
    ['aws_eks', 'system:serviceaccount:prod:deployer', {}, true],
    ['vercel', 'owner:acme:project:web:environment:*', {}, true],
    ['vercel', 'owner:acme:project:*', {}, false],
    ['circleci', 'org/1/project/2/user/3', {}, false],
    ['circleci', null, { '["oidc.circleci.com/project-id"]': 'p' }, true],
    ['buildkite', 'organization:acme:pipeline:deploy*', {}, false],
    ['buildkite', 'organization:acme:pipeline:deploy:**', {}, true],
    ['kubernetes', 'system:serviceaccount:prod:*', {}, false],
    ['custom', 'deployer', {}, true],
    ['custom', 'deploy*', { team: 'core*' }, false],
    ['custom', null, { team: 'core' }, true],
    ['custom', null, {}, false],
  ];
  for (const [provider, subject, claims, accepted] of cases)
    assert.equal(identityProblem(provider, { subject, claims }) === null, accepted, `${provider} ${subject} ${JSON.stringify(claims)}`);
});

test('an issuer that many share keeps the rules of its provider', () => {
  assert.match(issuerProblem('custom', 'https://token.actions.githubusercontent.com') ?? '', /GitHub Actions/);
  assert.match(issuerProblem('kubernetes', 'https://accounts.google.com') ?? '', /Google/);
  assert.match(issuerProblem('github_actions', 'https://gitlab.com') ?? '', /GitLab/);
  for (const bad of ['ftp://a.example', 'nothing', 'https://a.example?x', 'https://a.example#x', 'https://u:p@a.example'])
    assert.notEqual(issuerProblem('custom', bad), null, bad);
  assert.match(issuerProblem('gitlab', 'https://git.example.com/') ?? '', /slash/);
  assert.equal(issuerProblem('azure', 'https://sts.windows.net/t/'), null);
  assert.equal(issuerProblem('gitlab', 'https://git.example.com'), null);
});

test('a shared audience, a foreign issuer and a whole repository are warned about', () => {
  const binding = {
    ...{ provider: 'github_actions' as const, issuer: 'https://token.actions.githubusercontent.com', audience: 'service:api:acme' },
    ...{ subject: 'repo:acme/app:ref:refs/heads/main', claims: {}, scopes: ['routes:read'] },
  };
  const warned = (more: Partial<typeof binding> = {}, step_up_scopes: string[] = []) =>
    bindingWarnings({ ...binding, ...more }, { slug: 'acme', step_up_scopes }).join(' ');
  assert.equal(warned(), '');
  assert.match(warned({ audience: 'service:api' }), /service:api:acme/);
  assert.match(warned({ audience: 'service:api:other' }), /another workspace/);
  assert.match(warned({ issuer: 'https://github.example.com/_services/token' }), /doesn't look like/);
  assert.match(warned({ subject: 'repo:acme/app:**' }), /every branch/i);
  assert.match(warned({ subject: 'repo:acme/app:pull_request' }), /every branch/i);
  assert.equal(warned({ subject: 'repo:acme/app:environment:*prod' }), warned({ subject: 'repo:acme/app:**' }));
  assert.match(warned({ scopes: ['transit:decrypt'] }), /plaintext/);
  assert.match(warned({ scopes: ['routes:write'] }, ['routes:write']), /second factor/);
});
