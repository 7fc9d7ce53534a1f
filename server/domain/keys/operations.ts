import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import { RotatedKey, TenantKeys } from './schema.ts';
import * as keys from './service.ts';

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

export const rotate = operation({
  id: 'tenant_keys.rotate',
  summary: "Rotate the workspace's master key",
  http: 'POST /admin/tenant-kms/rotate',
  kind: 'change',
  needs: ['kms:rotate'],
  refuses: ['rotation_in_progress', 'conflict', 'audit_unavailable'],
  input: z.object({}),
  output: RotatedKey,
  run: (ctx) => keys.rotateTenantKey(ctx),
});
