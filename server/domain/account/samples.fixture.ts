import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { type Fixture, fresh, made, nothing, type Sample } from '#server/testing/factories.ts';
import type { PersonSample } from '#server/testing/test-person.ts';
import { WORKSPACE_PROTECTIONS } from './settings.ts';

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

export const confirmedSamples: Record<string, Sample> = {
  // Members log in with the CLI unless a workspace says no.
  'account.update_settings': async (ctx) => {
    await made(ctx, 'account.update_settings', { cli_login_enabled: false });
    return { cli_login_enabled: true };
  },
};

export const harmless = { 'account.update': ['name'] };
export const loosening: Fixture['loosening'] = {
  'account.update_settings': {
    rules: WORKSPACE_PROTECTIONS,
    of: nothing,
    pairs: {
      session_idle_minutes: { strict: { session_idle_minutes: 30 }, loose: { session_idle_minutes: null } },
      session_max_hours: { strict: { session_max_hours: 12 }, loose: { session_max_hours: 24 } },
      log_payloads_default: { strict: { log_payloads_default: 'off' }, loose: { log_payloads_default: 'errors' } },
      dashboard_ip_allowlist: { strict: { dashboard_ip_allowlist: ['127.0.0.0/8'] }, loose: { dashboard_ip_allowlist: [] } },
      require_reveal_reason: { strict: { require_reveal_reason: true }, loose: { require_reveal_reason: false } },
      escrow_never_reveal: { strict: { escrow_never_reveal: true }, loose: { escrow_never_reveal: false } },
      details_withheld: { strict: { details_withheld: true }, loose: { details_withheld: false } },
      require_mfa: { strict: { require_mfa: true }, loose: { require_mfa: false } },
      legacy_key_auth: { strict: { legacy_key_auth: 'disabled' }, loose: { legacy_key_auth: 'enabled' } },
      dpop_nonce_required: { strict: { dpop_nonce_required: true }, loose: { dpop_nonce_required: false } },
      cli_login_enabled: { strict: { cli_login_enabled: false }, loose: { cli_login_enabled: true } },
      allow_client_id_documents: { strict: { allow_client_id_documents: false }, loose: { allow_client_id_documents: true } },
      trusted_egress_cidrs: { strict: { trusted_egress_cidrs: [] }, loose: { trusted_egress_cidrs: ['192.0.2.0/24'] } },
      revoke_on_offboarding: { strict: { revoke_on_offboarding: true }, loose: { revoke_on_offboarding: false } },
    },
  },
};

export const personSamples: Record<string, PersonSample> = {
  'account.deleted': async () => ({}),
  'account.restore': async ({ w }) => {
    await db().tenants.update({ where: { id: w.tenant.id }, data: { deleted_at: new Date() } });
    return { id: w.tenant.id };
  },
};
