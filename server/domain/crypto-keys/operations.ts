import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { revealByRewrap, revealOfPlaintext, revealPlaintext, rewrapByPerson } from './reveal.ts';
import {
  CreateCryptoKey,
  CryptoKey,
  CryptoKeyActivity,
  CryptoKeyDetail,
  CryptoKeyRecord,
  CryptoKeyRef,
  CryptoKeyUsage,
  DestroyedVersion,
  GetPublicKey,
  JwkSet,
  PublicKey,
  RevealCiphertext,
  RevealedPlaintext,
  RewrappedByPerson,
  RotatedCryptoKey,
  ScheduleDestruction,
  ScheduledDestruction,
  TrimCryptoKey,
  TrimmedCryptoKey,
  UpdateCryptoKey,
  VersionRef,
} from './schema.ts';
import * as keys from './service.ts';

export const list = operation({
  id: 'crypto_keys.list',
  summary: 'List crypto keys',
  http: 'GET /crypto/keys',
  kind: 'read',
  needs: ['transit:read'],
  mirrored: true,
  refuses: [],
  input: z.object({}),
  output: z.array(CryptoKey),
  list: 'whole',
  run: async (ctx) => wholeList(await keys.listCryptoKeys(ctx)),
});

export const create = operation({
  id: 'crypto_keys.create',
  summary: 'Create a crypto key',
  http: 'POST /crypto/keys',
  kind: 'change',
  needs: ['transit:create'],
  mirrored: true,
  refuses: ['plan_limit', 'plan_feature', 'conflict', 'tenant_sealed'],
  input: CreateCryptoKey,
  output: CryptoKeyRecord,
  success: 201,
  run: (ctx, input) => keys.createCryptoKey(ctx, input),
});

export const get = operation({
  id: 'crypto_keys.get',
  summary: 'Get a crypto key',
  http: 'GET /crypto/keys/{name}',
  kind: 'read',
  needs: ['transit:read'],
  mirrored: true,
  refuses: ['not_found'],
  input: CryptoKeyRef,
  output: CryptoKeyDetail,
  run: (ctx, input) => keys.getCryptoKey(ctx, input),
});

export const update = operation({
  id: 'crypto_keys.update',
  summary: 'Update a crypto key',
  http: 'PATCH /crypto/keys/{name}',
  kind: 'change',
  needs: ['transit:update'],
  mirrored: true,
  step_up: { by_verb: ['crypto.destroy_latch', 'protection.loosen'] },
  refuses: ['not_found', 'key_managed', 'forbidden', 'role_denied', 'mfa_required', 'step_up_required'],
  input: UpdateCryptoKey,
  output: CryptoKeyRecord,
  edits: { row: (tx, ctx, { name }) => keys.lockedKey(tx, ctx, name), shown_by: get },
  run: (ctx, input) => keys.updateCryptoKey(ctx, input),
});

const remove = operation({
  id: 'crypto_keys.delete',
  summary: 'Delete a crypto key',
  http: 'DELETE /crypto/keys/{name}',
  kind: 'change',
  needs: ['transit:destroy'],
  mirrored: true,
  step_up: 'crypto.destroy_latch',
  refuses: ['not_found', 'key_managed', 'deletion_not_allowed', 'in_use'],
  input: CryptoKeyRef,
  output: Deleted,
  run: (ctx, input) => keys.deleteCryptoKey(ctx, input),
});

export const rotate = operation({
  id: 'crypto_keys.rotate',
  summary: 'Rotate a crypto key',
  http: 'POST /crypto/keys/{name}/rotate',
  kind: 'change',
  needs: ['transit:rotate'],
  mirrored: true,
  refuses: ['not_found', 'key_managed', 'in_use', 'tenant_sealed'],
  input: CryptoKeyRef,
  output: RotatedCryptoKey,
  run: (ctx, input) => keys.rotateCryptoKey(ctx, input),
});

export const destroy_version = operation({
  id: 'crypto_keys.destroy_version',
  summary: 'Destroy a version of a crypto key',
  http: 'DELETE /crypto/keys/{name}/versions/{n}',
  kind: 'change',
  needs: ['transit:destroy'],
  mirrored: true,
  step_up: 'crypto.destroy_latch',
  refuses: ['not_found', 'deletion_not_allowed', 'in_use'],
  input: VersionRef,
  output: DestroyedVersion,
  run: (ctx, input) => keys.destroyVersion(ctx, input),
});

export const schedule_destruction = operation({
  id: 'crypto_keys.schedule_destruction',
  summary: 'Schedule the destruction of a version',
  http: 'POST /crypto/keys/{name}/versions/{n}/schedule-destruction',
  kind: 'change',
  needs: ['transit:destroy'],
  mirrored: true,
  step_up: 'crypto.destroy_latch',
  refuses: ['not_found', 'deletion_not_allowed', 'in_use', 'key_version_destroyed'],
  input: ScheduleDestruction,
  output: ScheduledDestruction,
  run: (ctx, input) => keys.scheduleDestruction(ctx, input),
});

export const cancel_destruction = operation({
  id: 'crypto_keys.cancel_destruction',
  summary: 'Cancel the destruction of a version',
  http: 'POST /crypto/keys/{name}/versions/{n}/cancel-destruction',
  kind: 'change',
  needs: ['transit:update'],
  mirrored: true,
  refuses: ['not_found', 'key_version_destroyed'],
  input: VersionRef,
  output: ScheduledDestruction,
  run: (ctx, input) => keys.cancelDestruction(ctx, input),
});

export const trim = operation({
  id: 'crypto_keys.trim',
  summary: 'Destroy old versions of a crypto key',
  http: 'POST /crypto/keys/{name}/trim',
  kind: 'change',
  needs: ['transit:destroy'],
  mirrored: true,
  step_up: 'crypto.destroy_latch',
  refuses: ['not_found', 'deletion_not_allowed'],
  input: TrimCryptoKey,
  output: TrimmedCryptoKey,
  run: (ctx, input) => keys.trimKey(ctx, input),
});

export const public_key = operation({
  id: 'crypto_keys.public_key',
  summary: 'Get the public key of a crypto key',
  http: 'GET /crypto/keys/{name}/public-key',
  kind: 'read',
  needs: ['transit:read'],
  mirrored: true,
  refuses: ['not_found', 'key_version_destroyed'],
  input: GetPublicKey,
  output: PublicKey,
  run: (ctx, input) => keys.getPublicKey(ctx, input),
});

export const jwks = operation({
  id: 'crypto_keys.jwks',
  summary: 'Get the JWK set of a crypto key',
  http: 'GET /crypto/keys/{name}/jwks',
  kind: 'read',
  needs: ['transit:read'],
  mirrored: true,
  refuses: ['not_found'],
  input: CryptoKeyRef,
  output: JwkSet,
  run: (ctx, input) => keys.getJwks(ctx, input),
});

export const usage = operation({
  id: 'crypto_keys.usage',
  summary: 'Get the usage of each crypto key',
  http: 'GET /admin/crypto/usage/keys',
  kind: 'read',
  needs: ['transit:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(CryptoKeyUsage),
  list: 'whole',
  run: async (ctx) => wholeList(await keys.usageOfKeys(ctx)),
});

export const activity = operation({
  id: 'crypto_keys.activity',
  summary: 'Show how a crypto key is used',
  http: 'GET /admin/crypto/keys/{name}/usage',
  kind: 'read',
  needs: ['transit:read'],
  refuses: ['not_found'],
  input: CryptoKeyRef,
  output: CryptoKeyActivity,
  run: (ctx, input) => keys.activityOfKey(ctx, input),
});

export { datakey, decrypt, encrypt, jwt, rewrap, sign, verify, verify_jwt, webhook_sign } from './hot.ts';

const UNOPENED = ['not_found', 'key_managed', 'decrypt_failed', 'key_version_disabled', 'key_version_destroyed', 'tenant_sealed'] as const;

export const reveal_decrypt = operation({
  id: 'crypto_keys.reveal_decrypt',
  summary: 'Decrypt with a crypto key in the dashboard',
  http: 'POST /admin/crypto/keys/{name}/decrypt',
  kind: 'reveal',
  needs: ['transit:decrypt'],
  refuses: UNOPENED,
  input: RevealCiphertext,
  output: RevealedPlaintext,
  reveal: revealOfPlaintext,
  run: (ctx, input) => revealPlaintext(ctx, input),
});

export const reveal_rewrap = operation({
  id: 'crypto_keys.reveal_rewrap',
  summary: 'Rewrap a ciphertext in the dashboard',
  http: 'POST /admin/crypto/keys/{name}/rewrap',
  kind: 'reveal',
  needs: ['transit:rewrap'],
  refuses: UNOPENED,
  input: RevealCiphertext,
  output: RewrappedByPerson,
  reveal: revealByRewrap,
  run: (ctx, input) => rewrapByPerson(ctx, input),
});

export { remove as delete };
