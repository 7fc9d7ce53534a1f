import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';

test('in production a mail that cannot be sent leaves neither its code nor its link in the log', () => {
  const script = `
    const { deliver } = await import('#server/platform/mail.ts');
    await deliver({ recipient: 'ada@example.test', kind: 'sign_in', subject: '424242 is your Sallyport code', text: 'https://a.test/auth/magic?token=abcdefgh', html: null });
  `;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: `${import.meta.dirname}/../..`,
    env: { ...process.env, NODE_ENV: 'production', LOG_LEVEL: 'info', SMTP_URL: '' },
    encoding: 'utf8',
  });
  assert.match(out, /ada@example\.test/);
  assert.match(out, /sign_in/);
  assert.doesNotMatch(out, /424242|abcdefgh/);
});
