import { KEY_ROLES } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { type Fixture, fresh, idOf, nothing, type Sample } from '#server/testing/factories.ts';
import { keyActor } from '#server/testing/workspace.ts';
import { KEY_PROTECTIONS } from './settings.ts';

const apiKey: Sample = async () => ({ name: fresh('key') });

export const samples: Record<string, Sample> = {
  'api_keys.list': nothing,
  'api_keys.get': idOf('api_keys.create', apiKey),
  'api_keys.uses': idOf('api_keys.create', apiKey),
  'api_keys.versions': nothing,
  'api_keys.create': apiKey,
  'api_keys.update': async (ctx) => ({ ...(await idOf('api_keys.create', apiKey)(ctx)), name: fresh('renamed') }),
  'api_keys.rotate': idOf('api_keys.create', apiKey),
  'api_keys.revoke': idOf('api_keys.create', apiKey),
};

const role = (name: string): string[] => KEY_ROLES.filter((one) => one.name === name).map(({ id }) => id);
const ofRole =
  (name: string): Sample =>
  async () => ({ name: fresh('key'), role_ids: role(name) });
/** A key of that role, made by a machine that has it: nobody had to confirm it. */
const existing =
  (name: string): Sample =>
  (ctx: Ctx) =>
    idOf('api_keys.create', ofRole(name))({ ...ctx, actor: keyActor('Key - Infrastructure') });

export const confirmedSamples: Record<string, Sample> = {
  'api_keys.create': async (ctx) => ({ ...(await apiKey(ctx)), key_type: 'access_key' }),
  'api_keys.create capability.grant': ofRole('Key - Infrastructure'),
  'api_keys.update capability.grant': async (ctx) => ({ ...(await existing('Key - Invoke')(ctx)), role_ids: role('Key - Editor') }),
  'api_keys.update protection.loosen': async (ctx) => {
    const { id } = await idOf('api_keys.create', async () => ({ name: fresh('key'), role_ids: role('Key - Invoke'), expires_in_days: 1 }))(
      ctx,
    );
    return { id, never_expires: true };
  },
  // Whoever rotates a key holds its text, so the stronger of two confirmations is asked for.
  'api_keys.rotate capability.grant': existing('Key - Infrastructure'),
  'api_keys.rotate protection.loosen': async (ctx) => {
    const { id } = await idOf('api_keys.create', async () => ({ name: fresh('key'), role_ids: role('Key - Invoke'), expires_in_days: 1 }))(
      ctx,
    );
    return { id, never_expires: true };
  },
};

export const freeSamples: Record<string, Sample> = {
  'api_keys.create': ofRole('Key - Invoke'),
  'api_keys.update': async (ctx) => ({
    ...(await existing('Key - Infrastructure')(ctx)),
    role_ids: role('Key - Invoke'),
    expires_in_days: 1,
  }),
  'api_keys.rotate': async (ctx) => ({ ...(await existing('Key - Invoke')(ctx)), expires_in_days: 1 }),
};

export const loosening: Fixture['loosening'] = {
  'api_keys.update': {
    rules: KEY_PROTECTIONS,
    of: existing('Key - Invoke'),
    pairs: {
      ip_allowlist: { strict: { ip_allowlist: ['203.0.113.0/24'] }, loose: { ip_allowlist: [] } },
      expires_at: { strict: { expires_in_days: 1 }, loose: { expires_in_days: 2 } },
    },
  },
};

/** Access keys are of Live. */
export const onlyInLive = ['api_keys.create api_key.create'];
/** No token of a person holds what only Owners and Admins reveal. */
export const neverByLogin = Object.fromEntries(
  ['create', 'update', 'rotate'].map((verb) => [`api_keys.${verb} capability.grant`, 'privilege_escalation']),
);
export const dependsOnState = [/must be between 1 hour and 5 years/, /only access keys/i];
export const shownOnce = { 'api_keys.create': ['api_key'], 'api_keys.rotate': ['api_key'] };
