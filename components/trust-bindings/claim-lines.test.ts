import assert from 'node:assert/strict';
import test from 'node:test';
import { identityProblem, PROVIDER_NAMES } from '#server/domain/trust-bindings/providers.shared.ts';
import { claimsOf, linesOf, linesProblem } from './claim-lines.ts';
import { PRESETS } from './presets.ts';

test('claims survive the way through the text field', () => {
  const claims = { ref: 'refs/heads/main', environment: ['production', 'stag=ing'], '["a=b/c"].d': '1' };
  assert.deepEqual(claimsOf(linesOf(claims)), claims);
  assert.deepEqual(claimsOf('  ref=x \n\n ref = y'), { ref: ['x', 'y'] });
});

test('a line that is no condition is named', () => {
  assert.equal(linesProblem('ref = main\nenvironment = prod'), null);
  assert.match(linesProblem('ref = main\nproduction') ?? '', /“production”/);
  assert.match(linesProblem('= x') ?? '', /no condition/);
  assert.match(linesProblem('ref =') ?? '', /no condition/);
});

test('what a preset builds from its fields is a binding that can be saved', () => {
  for (const provider of PROVIDER_NAMES) {
    const preset = PRESETS[provider];
    if (!preset) continue;
    const filled = Object.fromEntries(preset.fields.map(({ name, options }) => [name, options?.[0]?.value ?? `${name}1`]));
    for (const where of preset.fields.find(({ options }) => options)?.options ?? [{ value: '' }]) {
      const { subject, claims } = preset.build({ ...filled, ...(where.value ? { where: where.value } : {}) });
      assert.equal(identityProblem(provider, { subject: subject || null, claims }), null, `${provider} ${where.value} ${subject}`);
    }
    const empty = preset.build({});
    assert.ok(typeof empty.subject === 'string', 'nothing typed yet is no error');
  }
});

test('GitHub Actions: owner, repository and branch make the subject', () => {
  const build = (more: Record<string, string>) => PRESETS.github_actions?.build({ owner: 'acme', repo: 'app', ...more }).subject;
  assert.equal(build({ where: 'branch', value: 'main' }), 'repo:acme/app:ref:refs/heads/main');
  assert.equal(build({ where: 'environment', value: 'production' }), 'repo:acme/app:environment:production');
  assert.equal(build({ where: 'tag', value: 'v*' }), 'repo:acme/app:ref:refs/tags/v*');
  assert.equal(build({ where: 'pull_request' }), 'repo:acme/app:pull_request');
  assert.equal(build({ where: 'any' }), 'repo:acme/app:**');
});
