import type { z } from 'zod';
import { firstProblem } from '#server/api/parse.ts';
import { canonicalRedirectUri } from '#server/domain/oauth-clients/redirect-uris.shared.ts';
import { CreateOAuthClient, UpdateOAuthClient } from '#server/domain/oauth-clients/schema.ts';
import {
  changeProvisionedClient,
  createClient,
  getProvisionedClient,
  listProvisionedClients,
  revokeProvisionedClient,
} from '#server/domain/oauth-clients/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { parseFilter } from '../filter/parse.ts';
import { toSql } from '../filter/sql.ts';
import { applyPatch } from '../patch/patch.ts';
import { badRequest, ScimProblem } from '../problem.ts';
import type { ScimResource } from '../resource.ts';
import { OAUTH_CLIENT_URN, oauthClientType } from '../schema/oauth-client.ts';
import { readResource, type ScimObject } from '../schema/read.ts';
import { oauthClientColumns } from './oauth-client-columns.ts';

type Row = Awaited<ReturnType<typeof getProvisionedClient>>;

/** The values of a filter stand behind workspace and space. */
const FIRST_VALUE = 3;

/** OAuth clients of the credential's space (interface rule 23 §7). */
export const oauthClients: ScimResource = {
  type: oauthClientType,
  async list({ ctx }, { filter, startIndex, count }) {
    const where = filter === null ? null : toSql(parseFilter(filter, oauthClientType), oauthClientColumns, FIRST_VALUE);
    const { total, clients } = await listProvisionedClients(ctx, { where, skip: startIndex - 1, take: count });
    return { total, resources: clients.map(resourceOf) };
  },
  get: async ({ ctx }, id) => resourceOf(await getProvisionedClient(ctx, id)),
  async create({ ctx }, body) {
    const { active, ...settings } = settingsOf(readResource(body, oauthClientType), true);
    const interactive = settings.redirect_uris.length > 0;
    const grant_types = ['client_credentials', ...(interactive ? ['authorization_code', 'refresh_token'] : [])];
    const input = parsed(CreateOAuthClient, { ...settings, type: 'confidential', grant_types });
    const { id, client_secret } = await createClient(ctx, input, { active }).catch(inScimWords);
    return { ...resourceOf(await getProvisionedClient(ctx, id)), client_secret };
  },
  replace: ({ ctx }, id, body) => changed(ctx, id, (row) => settingsOf(readResource(body, oauthClientType), row.active)),
  patch: ({ ctx }, id, operations) =>
    changed(ctx, id, (row) => settingsOf(applyPatch(resourceOf(row), operations, oauthClientType), row.active)),
  async remove({ ctx }, id) {
    await revokeProvisionedClient(ctx, id).catch(inScimWords);
  },
};

type Settings = ReturnType<typeof settingsOf>;

async function changed(ctx: Ctx, id: string, wanted: (row: Row) => Settings): Promise<ScimObject> {
  const row = await changeProvisionedClient(ctx, id, (before) => {
    const changes = differing(before, wanted(before));
    return Object.keys(changes).length > 0 ? parsed(UpdateOAuthClient, { id, ...changes }) : null;
  }).catch(inScimWords);
  return resourceOf(row);
}

/** What a resource asks for; what it leaves out has no value, but whether the client is active stays. */
const settingsOf = (resource: ScimObject, active: boolean) => ({
  name: resource.clientName as string,
  allowed_scopes: (resource.allowedScopes ?? []) as string[],
  redirect_uris: (resource.redirectUris ?? []) as string[],
  step_up_scopes: (resource.stepUpScopes ?? []) as string[],
  require_pkce: (resource.requirePkce ?? true) as boolean,
  require_dpop: (resource.requireDpop ?? false) as boolean,
  active: (resource.active ?? active) as boolean,
});

/** The settings that aren't what the client has; lists have no order. */
function differing(row: Row, settings: Settings): Partial<Settings> {
  const before: Settings = { ...row, require_pkce: true };
  const comparable = (value: Settings[keyof Settings]) =>
    JSON.stringify(Array.isArray(value) ? value.map((one) => canonicalRedirectUri(one) ?? one).sort() : value);
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => comparable(value) !== comparable(before[name as keyof Settings])),
  );
}

/** Absent values are left out (interface rule 23 §6.6). */
const resourceOf = (row: Row): ScimObject => ({
  schemas: [OAUTH_CLIENT_URN],
  id: row.id,
  clientName: row.name,
  clientId: row.client_id,
  clientType: row.type,
  grantTypes: row.grant_types,
  ...(row.allowed_scopes.length > 0 ? { allowedScopes: row.allowed_scopes } : {}),
  ...(row.redirect_uris.length > 0 ? { redirectUris: row.redirect_uris } : {}),
  ...(row.step_up_scopes.length > 0 ? { stepUpScopes: row.step_up_scopes } : {}),
  requirePkce: true,
  requireDpop: row.require_dpop,
  active: row.active,
  meta: { resourceType: 'OAuthClient', created: row.created_at.toISOString(), lastModified: row.updated_at.toISOString() },
});

/** @throws ScimProblem invalidValue */
function parsed<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const read = schema.safeParse(input);
  if (!read.success) throw badRequest('invalidValue', inScimNames(firstProblem(read.error)));
  return read.data;
}

/** A refusal of the domain as SCIM calls it. */
function inScimWords(error: unknown): never {
  if (!(error instanceof Refusal)) throw error;
  if (error.type === 'validation_error') throw badRequest('invalidValue', inScimNames(error.message));
  if (error.type === 'plan_limit') throw new ScimProblem(403, error.message, { error: 'scim_client_limit' });
  if (error.type === 'system_client_protected') throw new ScimProblem(403, error.message, { error: 'system_client_protected' });
  throw error;
}

const NAMES: readonly (readonly [string, string])[] = [
  ['allowed_scopes', 'allowedScopes'],
  ['redirect_uris', 'redirectUris'],
  ['step_up_scopes', 'stepUpScopes'],
  ['grant_types', 'grantTypes'],
  ['require_pkce', 'requirePkce'],
  ['name:', 'clientName:'],
];
const inScimNames = (message: string) => NAMES.reduce((text, [ours, theirs]) => text.replaceAll(ours, theirs), message);
