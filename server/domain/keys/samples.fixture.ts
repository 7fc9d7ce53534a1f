import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { nothing, type Sample } from '#server/testing/factories.ts';
import { onboardTenantKms, rotateTenantKey } from './service.ts';

/** Without what the pipeline asks of a person. */
const plain = ({ step_up: _, ...ctx }: Ctx): Ctx => ctx;
const FAKE = { provider: 'fake', kms_key_ref: 'fake:samples', config: {} };

const onboarded: Sample = async (ctx) => {
  await onboardTenantKms(plain(ctx), FAKE);
  return {};
};

export const samples: Record<string, Sample> = {
  'tenant_keys.get': onboarded,
  'tenant_keys.list': nothing,
  'tenant_keys.setup': nothing,
  'tenant_keys.state': nothing,
  'tenant_keys.onboard': async () => FAKE,
  'tenant_keys.rotate': nothing,
  'tenant_keys.offboard': onboarded,
  'tenant_keys.unseal': async (ctx) => {
    await onboarded(ctx);
    await sql().query("update tenant_kms_configs set sealed_since = now(), sealed_reason = 'unreachable' where tenant_id = $1", [
      ctx.tenant_id,
    ]);
    return {};
  },
  'tenant_keys.revoke': async (ctx) => {
    const { new_version } = await rotateTenantKey(plain(ctx));
    const { slug } = await db().tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true } });
    return { version: new_version - 1, confirm_slug: slug, force: true };
  },
  'tenant_keys.verify': onboarded,
};

/** Workspaces have these in both spaces. */
export const ofWorkspace = true;
/** With `force` only an Owner revokes. */
export const peopleOnly = ['tenant_keys.revoke'];
