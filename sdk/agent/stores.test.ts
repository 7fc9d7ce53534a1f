import assert from 'node:assert/strict';
import { createCipheriv, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { keysOf, windowKey } from './keys.ts';
import type { Bundle, InterceptRule, WrappedSecret } from './protocol.ts';
import type { Session } from './session.ts';
import { crc32c, openSecret, storeAnswer } from './stores.ts';

const keys = keysOf('svc_agent_9GJ2mZ0sQm3C1T7u4Yw8Kp', 'svc_as_Zk3l9Qw2Xc8Vb5Nm1Ty7Ui4Op6As0DfGhJkLqWeRtYu');
const WINDOW = '2026-10-01T12';

function sealed(key: Buffer, aad: string, plain: Buffer) {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(aad));
  return {
    nonce: nonce.toString('base64'),
    text: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64'),
  };
}

function bundleWith(value: string): Bundle {
  const aad = `tenant|${keys.agentId}|s1|3|${WINDOW}`;
  const cek = randomBytes(32);
  const [wrapped, content] = [sealed(windowKey(keys, WINDOW), aad, cek), sealed(cek, aad, Buffer.from(value))];
  const secret: WrappedSecret = {
    ...{ id: 's1', name: 'DB', environment: 'production', version: 3, alg: 'A256GCM', aad },
    ...{ wrapped_cek: wrapped.text, wrap_nonce: wrapped.nonce, ciphertext: content.text, nonce: content.nonce },
  };
  const at = { window: WINDOW, issued_at: '', expires_at: '' };
  return {
    v: 1,
    agent_id: keys.agentId,
    tenant_id: 'tenant',
    sandbox: false,
    mode: 'intercept',
    ...at,
    ...{ routes: [], clients: [], limits: { requests_per_second: null, offline_grace_hours: 0 } },
    secrets: [secret],
    etag: '',
    sig: '',
  };
}
const sessionWith = (bundle: Bundle, window = WINDOW) =>
  ({ bundle: () => bundle, key: () => windowKey(keys, window) }) as unknown as Session;

test('opens a secret of the bundle with the key of its window alone, and for the place it was sealed for', () => {
  const bundle = bundleWith('swordfish');
  assert.equal(openSecret(sessionWith(bundle), 's1')?.value, 'swordfish');
  assert.equal(openSecret(sessionWith(bundle), 'other'), undefined);
  assert.throws(() => openSecret(sessionWith(bundle, '2026-10-01T13'), 's1'));
  assert.throws(() => openSecret(sessionWith({ ...bundle, tenant_id: 'another' }), 's1'));
  const [secret] = bundle.secrets;
  assert.ok(secret);
  assert.throws(() => openSecret(sessionWith({ ...bundle, secrets: [{ ...secret, version: 4 }] }), 's1'));
  const both = sessionWith({ ...bundle, secrets: [{ ...secret, environment: 'other', version: 4 }, secret] });
  assert.equal(openSecret(both, 's1', 'production')?.value, 'swordfish', 'the value of the environment that is asked for');
  assert.equal(openSecret(both, 's1', 'staging'), undefined);
});

test('answers in the format of each store', () => {
  const rule = (response_format: InterceptRule['response_format'], match_secret_ref: string): InterceptRule => ({
    ...{ match_host: 'vault.example.net', match_path_prefix: '/', match_secret_ref, secret_id: 's1', response_format },
  });
  const [secret] = bundleWith('').secrets;
  assert.ok(secret);
  const answer = (format: InterceptRule['response_format'], ref = 'prod/db') =>
    storeAnswer(rule(format, ref), secret, 'swordfish', new Date(1_790_856_000_000));
  const aws = JSON.parse(answer('aws_sm', 'arn:aws:secretsmanager:eu-west-1:1:secret:prod/db-AbCdEf').body);
  assert.deepEqual(
    [aws.Name, aws.SecretString, aws.VersionStages, aws.CreatedDate],
    ['prod/db', 'swordfish', ['AWSCURRENT'], 1_790_856_000],
  );
  assert.equal(JSON.parse(answer('aws_ssm').body).Parameter.Value, 'swordfish');
  assert.equal(JSON.parse(answer('azure_kv').body).value, 'swordfish');
  const gcp = JSON.parse(answer('gcp_sm').body);
  assert.deepEqual(
    [Buffer.from(gcp.payload.data, 'base64').toString(), gcp.payload.dataCrc32c],
    ['swordfish', String(crc32c(Buffer.from('swordfish')))],
  );
  assert.deepEqual(answer('plain').body, 'swordfish');
});

test('computes CRC-32C by its check value', () => {
  assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283);
});
