import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { fresh, made, nothing, type Sample } from '#server/testing/factories.ts';
import type { PersonSample } from '#server/testing/test-person.ts';

/** A logo that can be taken down: to hang one takes a person. */
const hungLogo = (ctx: Ctx) =>
  sql().query("insert into pictures (id, tenant_id, etag, bytes) values ($1, $2, 'a', 'b') on conflict (tenant_id) do nothing", [
    newId(),
    ctx.tenant_id,
  ]);

export const samples: Record<string, Sample> = {
  'account.get': nothing,
  'account.update': async () => ({ name: fresh('Workspace') }),
  'account.settings': nothing,
  'account.update_settings': async (ctx) => {
    await hungLogo(ctx);
    return { logo_upload_id: null };
  },
  'account.change_slug': async (ctx) => ({ slug: fresh('slug').toLowerCase(), confirm_slug: (await made(ctx, 'account.get')).slug }),
  'account.delete': async (ctx) => {
    // A workspace of samples may be deleted once per call.
    await db().tenants.update({ where: { id: ctx.tenant_id }, data: { deleted_at: null } });
    return { confirm_slug: (await made(ctx, 'account.get')).slug };
  },
  'account.usage': nothing,
  'account.plan': nothing,
};

/** Each setting is a control of its own that is saved at once. */
export const unguardedEdits = ['account.update_settings'];

export const personSamples: Record<string, PersonSample> = {
  'account.deleted': async () => ({}),
  'account.restore': async ({ w }) => {
    await db().tenants.update({ where: { id: w.tenant.id }, data: { deleted_at: new Date() } });
    return { id: w.tenant.id };
  },
};
