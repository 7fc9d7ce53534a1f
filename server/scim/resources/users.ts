import { families } from '#server/domain/families.ts';
import {
  type Change,
  changeRecord,
  createRecord,
  type DirectoryEmail,
  type DirectoryPerson,
  type DirectoryRecord,
  deleteRecord,
  getRecord,
  listRecords,
} from '#server/domain/scim-users/service.ts';
import { parseFilter } from '../filter/parse.ts';
import { toSql } from '../filter/sql.ts';
import { applyPatch } from '../patch/patch.ts';
import { ScimProblem } from '../problem.ts';
import type { ScimResource } from '../resource.ts';
import { readResource, type ScimObject } from '../schema/read.ts';
import { USER_URN, userType } from '../schema/user.ts';
import { userColumns } from './user-columns.ts';

/** The values of a filter stand behind workspace and space. */
const FIRST_VALUE = 3;

/** People of the workspace (interface rule 23 §6). */
export const users: ScimResource = {
  type: userType,
  admits({ ctx }) {
    if (ctx.sandbox)
      throw new ScimProblem(403, 'People belong to the whole workspace. Use a Live credential.', { error: 'scim_users_live_only' });
  },
  async list({ ctx }, { filter, startIndex, count }) {
    const where = filter === null ? null : toSql(parseFilter(filter, userType), userColumns, FIRST_VALUE);
    const { total, records } = await listRecords(ctx, { where, skip: startIndex - 1, take: count });
    return { total, resources: records.map(resourceOf) };
  },
  get: async ({ ctx }, id) => resourceOf(await getRecord(ctx, id)),
  async create({ ctx }, body) {
    const asked = readResource(body, userType);
    return resourceOf(await createRecord(ctx, personOf(asked), { active: asked.active !== false }));
  },
  // An absent `active` deactivates nobody.
  async replace({ ctx }, id, body) {
    const asked = readResource(body, userType);
    return resourceOf(await changeRecord(ctx, id, () => described(asked), families));
  },
  async patch({ ctx }, id, operations) {
    // Against the membership: that an account is disabled must not make its removal look done.
    const change: Change = (before) => described(applyPatch(resourceOf({ ...before, active: before.member }), operations, userType));
    return resourceOf(await changeRecord(ctx, id, change, families));
  },
  remove: ({ ctx }, id) => deleteRecord(ctx, id, families),
};

const described = (resource: ScimObject) => ({ person: personOf(resource), active: resource.active as boolean | undefined });

/** The stored attributes of a User; what is absent is cleared. */
function personOf(resource: ScimObject): DirectoryPerson {
  const name = (resource.name ?? {}) as Record<string, string | undefined>;
  return {
    user_name: resource.userName as string,
    external_id: (resource.externalId as string | undefined) || null,
    given_name: name.givenName || null,
    family_name: name.familyName || null,
    formatted: name.formatted || null,
    display_name: (resource.displayName as string | undefined) || null,
    emails: (resource.emails as DirectoryEmail[] | undefined) ?? [],
  };
}

/** Absent values are left out (interface rule 23 §6.6). */
function resourceOf(record: DirectoryRecord): ScimObject {
  const name = present({ givenName: record.given_name, familyName: record.family_name, formatted: record.formatted });
  return present({
    schemas: [USER_URN],
    id: record.id,
    externalId: record.external_id,
    userName: record.user_name,
    name: Object.keys(name).length > 0 ? name : null,
    displayName: record.display_name,
    emails: record.emails.length > 0 ? record.emails : null,
    active: record.active,
    meta: { resourceType: 'User', created: record.created_at.toISOString(), lastModified: record.updated_at.toISOString() },
  });
}

const present = (members: ScimObject): ScimObject => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
