import { hotOperation } from '#server/kernel/hot-operation.ts';
import * as encryption from './uses/encryption.ts';
import {
  DataKey,
  Decrypt,
  Decrypted,
  Encrypt,
  Encrypted,
  JwtVerdict,
  NewDataKey,
  Rewrap,
  Sign,
  Signed,
  SignedJwt,
  SignedWebhook,
  SignJwt,
  SignWebhook,
  Verified,
  Verify,
  VerifyJwt,
} from './uses/schema.ts';
import * as signing from './uses/signing.ts';

// The uses of keys (interface rule 40 §4, §5 and §10), served by the gateway.

/** The whole body (interface rule 40 §4.5). */
const body = { limit: 2 * 1024 * 1024 } as const;

export const encrypt = hotOperation({
  id: 'crypto_keys.encrypt',
  summary: 'Encrypt with a crypto key',
  http: 'POST /crypto/keys/{name}/encrypt',
  kind: 'use',
  needs: ['transit:encrypt'],
  mirrored: true,
  body,
  refuses: ['not_found', 'key_managed', 'key_version_disabled', 'tenant_sealed', 'audit_unavailable'],
  input: Encrypt,
  output: Encrypted,
  run: encryption.encrypt,
});

export const decrypt = hotOperation({
  id: 'crypto_keys.decrypt',
  summary: 'Decrypt with a crypto key',
  http: 'POST /crypto/keys/{name}/decrypt',
  kind: 'use',
  needs: ['transit:decrypt'],
  body,
  refuses: [
    'not_found',
    'key_managed',
    'decrypt_failed',
    'key_version_disabled',
    'key_version_destroyed',
    'tenant_sealed',
    'audit_unavailable',
  ],
  input: Decrypt,
  output: Decrypted,
  run: encryption.decrypt,
});

export const rewrap = hotOperation({
  id: 'crypto_keys.rewrap',
  summary: 'Re-encrypt under the active version',
  http: 'POST /crypto/keys/{name}/rewrap',
  kind: 'use',
  needs: ['transit:rewrap'],
  body,
  refuses: [
    'not_found',
    'key_managed',
    'decrypt_failed',
    'key_version_disabled',
    'key_version_destroyed',
    'tenant_sealed',
    'audit_unavailable',
  ],
  input: Rewrap,
  output: Encrypted,
  run: encryption.rewrap,
});

export const datakey = hotOperation({
  id: 'crypto_keys.datakey',
  summary: 'Generate a data key',
  http: 'POST /crypto/keys/{name}/datakey',
  kind: 'use',
  needs: ['transit:encrypt'],
  refuses: ['not_found', 'key_managed', 'forbidden', 'role_denied', 'key_version_disabled', 'tenant_sealed', 'audit_unavailable'],
  input: NewDataKey,
  output: DataKey,
  run: encryption.makeDataKey,
});

export const sign = hotOperation({
  id: 'crypto_keys.sign',
  summary: 'Sign with a crypto key',
  http: 'POST /crypto/keys/{name}/sign',
  kind: 'use',
  needs: ['transit:sign'],
  mirrored: true,
  body,
  refuses: ['not_found', 'key_version_disabled', 'tenant_sealed', 'audit_unavailable'],
  input: Sign,
  output: Signed,
  run: signing.sign,
});

export const verify = hotOperation({
  id: 'crypto_keys.verify',
  summary: 'Verify a signature',
  http: 'POST /crypto/keys/{name}/verify',
  kind: 'read',
  needs: ['transit:verify'],
  mirrored: true,
  body,
  refuses: ['not_found', 'tenant_sealed'],
  input: Verify,
  output: Verified,
  run: signing.verify,
});

export const jwt = hotOperation({
  id: 'crypto_keys.jwt',
  summary: 'Sign a JWT',
  http: 'POST /crypto/keys/{name}/jwt',
  kind: 'use',
  needs: ['transit:sign'],
  mirrored: true,
  refuses: ['not_found', 'key_version_disabled', 'tenant_sealed', 'audit_unavailable'],
  body: { source: ['claims'] },
  input: SignJwt,
  output: SignedJwt,
  run: signing.signJwt,
});

export const verify_jwt = hotOperation({
  id: 'crypto_keys.verify_jwt',
  summary: 'Verify a JWT',
  http: 'POST /crypto/keys/{name}/jwt/verify',
  kind: 'read',
  needs: ['transit:verify'],
  mirrored: true,
  refuses: ['not_found', 'tenant_sealed'],
  body: { source: [] },
  input: VerifyJwt,
  output: JwtVerdict,
  run: signing.verifyJwt,
});

export const webhook_sign = hotOperation({
  id: 'crypto_keys.webhook_sign',
  summary: 'Sign a webhook',
  http: 'POST /crypto/keys/{name}/webhook-sign',
  kind: 'use',
  needs: ['transit:sign'],
  mirrored: true,
  body,
  refuses: ['not_found', 'key_version_disabled', 'tenant_sealed', 'audit_unavailable'],
  input: SignWebhook,
  output: SignedWebhook,
  run: signing.signWebhook,
});
