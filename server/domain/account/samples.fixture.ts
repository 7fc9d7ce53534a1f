import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { sql } from '#server/platform/sql.ts';
import { fresh, nothing, type Sample } from '#server/testing/factories.ts';

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
  'account.usage': nothing,
  'account.plan': nothing,
};

/** Each setting is a control of its own that is saved at once. */
export const unguardedEdits = ['account.update_settings'];
