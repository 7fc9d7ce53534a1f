import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { onboard, onboardText } from './onboard.ts';
import { credentialsIn, scan } from './scan.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-scan-'));
after(() => fs.rmSync(folder, { recursive: true }));
const write = (name: string, content: string | Buffer) => {
  fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  fs.writeFileSync(path.join(folder, name), content);
};
// Put together here, so that no scanner of this repository takes them for real ones.
const STRIPE = `sk_live_${'4eC39HqLyjWDarjtT1zdp7dc'}`;
const AWS = `AKIA${'IOSFODNN7EXAMPLE'}`;
const GITHUB = `ghp_${'a'.repeat(36)}`;

test('finds credentials of known kinds and reports four characters and a digest of each', () => {
  write('app/.env', `# settings\nSTRIPE_KEY=${STRIPE}\nDEBUG=true\nDATABASE_URL=postgres://app:hunter22@db.example.com/shop\n`);
  write('app/deep/config.yml', `token: ${GITHUB}\n`);
  write('app/node_modules/x/.env', `KEY=${AWS}\n`);
  write('app/picture.bin', Buffer.concat([Buffer.of(0, 1), Buffer.from(AWS)]));
  fs.symlinkSync('/etc', path.join(folder, 'app/link'));
  const report = scan({ paths: [path.join(folder, 'app')], env: false, connections: false });
  assert.deepEqual(report.findings.map(({ kind, line_number }) => [kind, line_number]).sort(), [
    ['database_url', 4],
    ['github_token', 1],
    ['stripe_key', 2],
  ]);
  const stripe = report.findings.find(({ kind }) => kind === 'stripe_key');
  assert.deepEqual([stripe?.first4, stripe?.sha256_prefix], ['sk_l', createHash('sha256').update(STRIPE).digest('hex').slice(0, 16)]);
  const text = JSON.stringify(report);
  for (const value of [STRIPE, GITHUB, 'hunter22', STRIPE.slice(0, 10)]) assert.ok(!text.includes(value));
});

test('a variable whose name says so is a finding, a placeholder isn’t', () => {
  assert.deepEqual(credentialsIn('export SESSION_SECRET="s3cr3t-of-the-app"'), [{ kind: 'named_secret', value: 's3cr3t-of-the-app' }]);
  for (const line of ['API_KEY=your-key-here', `API_KEY=$${'{KEY}'}`, 'API_TOKEN=<token here>', 'MONKEY=banana-banana', 'SECRET=short'])
    assert.deepEqual(credentialsIn(line), [], line);
});

test('scans of hostile text take linear time', async () => {
  for (const piece of ['postgres://', '_KEY', 'sk-ant-', ' '])
    await assertGrowsLinearly(piece, 9_990, (size) => `A${piece.repeat(size / piece.length)}=`, credentialsIn);
});

test('finds addresses of APIs in code and says which route replaces them', () => {
  write(
    'code/pay.ts',
    `const base = 'https://api.stripe.com/v1';\nfetch('https://api.stripe.com/v1/charges');\nconst key = '${STRIPE}';\n`,
  );
  write('code/ai.py', 'client = Client(base_url="https://api.openai.com/v1")\n# see https://example.com/docs\n');
  write('code/node_modules/x/index.js', "fetch('https://api.github.com')");
  const report = onboard(path.join(folder, 'code'));
  assert.deepEqual(
    report.suggestions.map(({ target_base_url, slug, places }) => [target_base_url, slug, places.length]),
    [
      ['https://api.stripe.com/v1', 'stripe', 2],
      ['https://api.openai.com/v1', 'openai', 1],
    ],
  );
  assert.deepEqual(
    report.keys.map(({ file, line, kind }) => [file, line, kind]),
    [['pay.ts', 3, 'stripe_key']],
  );
  assert.ok(!onboardText(report).includes(STRIPE));
});
