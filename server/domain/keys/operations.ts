import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import {
  KmsSetup,
  KmsState,
  Onboarded,
  OnboardKms,
  RevokedKey,
  RevokeKey,
  RotatedKey,
  TenantKeys,
  TenantKms,
  Unsealed,
  Verified,
} from './schema.ts';
import * as keys from './service.ts';

export const get = operation({
  id: 'tenant_keys.get',
  summary: "Get the workspace's own KMS",
  http: 'GET /admin/tenant-kms',
  kind: 'read',
  needs: ['kms:read'],
  refuses: ['no_kms_config'],
  input: z.object({}),
  output: TenantKms,
  run: (ctx) => keys.getTenantKms(ctx),
});

export const list = operation({
  id: 'tenant_keys.list',
  summary: "List the workspace's master keys",
  http: 'GET /admin/tenant-kms/keys',
  kind: 'read',
  needs: ['kms:read'],
  refuses: [],
  input: z.object({}),
  output: TenantKeys,
  run: (ctx) => keys.listTenantKeys(ctx),
});

export const setup = operation({
  id: 'tenant_keys.setup',
  summary: 'Get what your cloud account must trust',
  http: 'GET /admin/tenant-kms/setup',
  kind: 'read',
  needs: ['kms:read'],
  refuses: [],
  input: z.object({}),
  output: KmsSetup,
  run: (ctx) => keys.kmsSetup(ctx),
});

export const state = operation({
  id: 'tenant_keys.state',
  summary: 'Get whether the workspace is sealed',
  http: 'GET /admin/tenant-kms/state',
  kind: 'read',
  needs: ['kms:read'],
  refuses: [],
  input: z.object({}),
  output: KmsState,
  run: (ctx) => keys.kmsState(ctx),
});

export const onboard = operation({
  id: 'tenant_keys.onboard',
  summary: 'Put the master key under your own KMS',
  http: 'POST /admin/tenant-kms',
  kind: 'change',
  needs: ['kms:onboard'],
  feature: 'byok_kms',
  refuses: [
    'static_credentials_rejected',
    'kms_verify_failed',
    'sealed',
    'rotation_in_progress',
    'conflict',
    'audit_unavailable',
    'tenant_sealed',
  ],
  input: OnboardKms,
  output: Onboarded,
  run: (ctx, input) => keys.onboardTenantKms(ctx, input),
});

export const rotate = operation({
  id: 'tenant_keys.rotate',
  summary: "Rotate the workspace's master key",
  http: 'POST /admin/tenant-kms/rotate',
  kind: 'change',
  needs: ['kms:rotate'],
  step_up: 'tenant.kms',
  refuses: ['rotation_in_progress', 'sealed', 'conflict', 'kms_probe_failed', 'audit_unavailable', 'tenant_sealed'],
  input: z.object({}),
  output: RotatedKey,
  run: (ctx) => keys.rotateTenantKey(ctx),
});

export const offboard = operation({
  id: 'tenant_keys.offboard',
  summary: 'Leave your own KMS',
  http: 'POST /admin/tenant-kms/offboard',
  kind: 'change',
  needs: ['kms:onboard'],
  while_inactive: true,
  step_up: 'tenant.kms',
  refuses: ['no_kms_config', 'rotation_in_progress', 'sealed', 'conflict', 'audit_unavailable', 'tenant_sealed'],
  input: z.object({}),
  output: RotatedKey,
  run: (ctx) => keys.offboardTenantKms(ctx),
});

export const unseal = operation({
  id: 'tenant_keys.unseal',
  summary: 'Unseal the workspace',
  http: 'POST /admin/tenant-kms/unseal',
  kind: 'change',
  needs: ['kms:unseal'],
  while_inactive: true,
  step_up: 'tenant.kms.unseal',
  refuses: ['no_kms_config', 'not_sealed', 'key_revoked', 'unseal_failed', 'audit_unavailable'],
  input: z.object({}),
  output: Unsealed,
  run: (ctx) => keys.unsealTenant(ctx),
});

export const revoke = operation({
  id: 'tenant_keys.revoke',
  summary: 'Destroy a version of the master key',
  http: 'POST /admin/tenant-kms/revoke',
  kind: 'change',
  needs: ['kms:revoke'],
  while_inactive: true,
  step_up: 'tenant.kms',
  refuses: [
    'role_denied',
    'key_version_not_found',
    'already_revoked',
    'version_active',
    'rewrap_pending',
    'rotation_in_progress',
    'audit_unavailable',
  ],
  input: RevokeKey,
  output: RevokedKey,
  run: (ctx, input) => keys.revokeTenantKey(ctx, input),
});

export const verify = operation({
  id: 'tenant_keys.verify',
  summary: 'Check that your KMS answers',
  http: 'POST /admin/tenant-kms/verify',
  kind: 'change',
  needs: ['kms:read'],
  while_inactive: true,
  refuses: ['no_kms_config', 'kms_probe_failed'],
  input: z.object({}),
  output: Verified,
  run: (ctx) => keys.verifyTenantKms(ctx),
});
