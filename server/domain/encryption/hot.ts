import { DATATYPES, fingerprint } from '#server/crypto/portable/text.ts';
import { parsePortable, sealerOf } from '#server/custody/portable.ts';
import { hotOperation } from '#server/kernel/hot-operation.ts';
import {
  Decrypt,
  Decrypted,
  Encrypt,
  Encrypted,
  Inspect,
  Inspected,
  Rewrap,
  Rewrapped,
  SealingBundle,
  SealingBundleQuery,
} from './schema.ts';
import { decryptData, encryptData, rewrapData } from './use.ts';

export const encrypt = hotOperation({
  id: 'encryption.encrypt',
  summary: 'Encrypt the values of a JSON document',
  http: 'POST /encrypt',
  kind: 'use',
  needs: ['transit:encrypt'],
  asks_policies: true,
  body: { source: ['data'] },
  refuses: ['plan_limit', 'key_version_disabled', 'tenant_sealed', 'audit_unavailable'],
  input: Encrypt,
  output: Encrypted,
  run: (ctx, input) => encryptData(ctx, input),
});

export const decrypt = hotOperation({
  id: 'encryption.decrypt',
  summary: 'Decrypt the sealed values of a JSON document',
  http: 'POST /decrypt',
  kind: 'use',
  needs: ['transit:decrypt'],
  asks_policies: true,
  body: { source: ['data'] },
  refuses: [
    'decrypt_failed',
    'key_version_disabled',
    'key_version_destroyed',
    'not_found',
    'vault_disabled',
    'token_expired',
    'plan_limit',
    'tenant_sealed',
    'audit_unavailable',
  ],
  input: Decrypt,
  output: Decrypted,
  run: (ctx, input) => decryptData(ctx, input),
});

export const rewrap = hotOperation({
  id: 'encryption.rewrap',
  summary: 'Move sealed values to the current key version',
  http: 'POST /encrypt/rewrap',
  kind: 'use',
  needs: ['transit:rewrap'],
  asks_policies: true,
  body: { source: ['data'] },
  refuses: ['decrypt_failed', 'key_version_disabled', 'key_version_destroyed', 'tenant_sealed', 'audit_unavailable'],
  input: Rewrap,
  output: Rewrapped,
  run: (ctx, input) => rewrapData(ctx, input),
});

export const inspect = hotOperation({
  id: 'encryption.inspect',
  summary: 'Describe a sealed value',
  http: 'POST /inspect',
  needs: ['transit:read'],
  refuses: [],
  input: Inspect,
  output: Inspected,
  run: async (_, { value }) => {
    const parsed = parsePortable(value);
    if (!parsed) return { encrypted: false };
    const { tenant_id, app_key_id, key_version } = parsed.key_ref;
    return {
      encrypted: true,
      scheme: 'kc' as const,
      version: 1 as const,
      datatype: DATATYPES[parsed.datatype],
      key_ref: { tenantId: tenant_id, appKeyId: app_key_id, keyVersion: key_version },
      fingerprint: fingerprint(parsed),
    };
  },
});

export const bundle = hotOperation({
  id: 'encryption.bundle',
  summary: 'Get the public key to seal with',
  http: 'GET /encrypt/sealing-bundle',
  needs: { any: ['transit:encrypt', 'transit:read'] },
  cache: 'private, max-age=300',
  refuses: ['key_version_disabled', 'tenant_sealed'],
  input: SealingBundleQuery,
  output: SealingBundle,
  run: async (ctx, { key }) => (await sealerOf(ctx, key)).bundle,
});
