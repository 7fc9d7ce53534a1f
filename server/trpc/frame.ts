import { personOf } from '#server/auth/person.ts';
import { deletedWorkspaces } from '#server/domain/account/service.ts';
import { CHANGELOG, unreadEntries } from '#server/domain/changelog/entries.shared.ts';
import { preferencesOf } from '#server/domain/people/schema.ts';
import { lacksFactor, nobodyYet, type WorkspaceRow, withinScope, workspacesOf } from '#server/domain/people/service.ts';
import { type Shrinking, shrinkingWindows } from '#server/domain/retention/service.ts';
import { apiUrl, proxyUrl } from '#server/domain/tenants/addresses.ts';
import type { Space } from '#server/kernel/context.ts';
import type { LiveSession } from '#server/kernel/person.ts';
import { db } from '#server/platform/db.ts';
import { mailLeaves } from '#server/platform/mail.ts';
import { secretFieldNames } from './listed-operations.ts';

/** What the frame of every signed-in page shows, or null when nobody is signed in. */
export async function frameOf(headers: Headers) {
  const person = await personOf(headers);
  if (!person) return null;
  const preferences = preferencesOf(person.user.preferences);
  const workspaces = withinScope(await workspacesOf(db(), person.user.id), person.session);
  return {
    user: { id: person.user.id, name: person.user.full_name || person.user.email, email: person.user.email, photo: person.user.avatar },
    preferences,
    date_format: person.user.date_format,
    /** null: no mail leaves this installation, so there is no way to verify one (interface rule 64 §6). */
    email_verified: mailLeaves() ? person.user.email_verified_at !== null : null,
    news: { newest: CHANGELOG[0]?.id ?? '', unread: unreadEntries(preferences.changelog_seen, person.user.created_at) },
    csrf: person.session.csrf_token,
    secret_fields: secretFieldNames(),
    workspaces: workspaces.map(({ id, slug, name, logo, role, reveal_secrets, plan, status }) => ({
      ...{ id, slug, name, logo, role, reveal_secrets, plan, status },
    })),
    /** Slugs of those that the person can't use until they have a second factor. */
    needing_factor: await needingFactor(workspaces, person.session),
    /** Where the dashboard opens, if the person chose a workspace they are still in. */
    home: workspaces.find((w) => w.id === preferences.home_workspace_id)?.slug ?? null,
    active: workspaces.find((w) => w.id === person.session.active_tenant_id)?.slug ?? workspaces[0]?.slug ?? null,
  };
}

async function needingFactor(workspaces: readonly WorkspaceRow[], session: LiveSession): Promise<string[]> {
  const judged = await Promise.all(workspaces.map(async (one) => ((await lacksFactor(one, session)) ? [one.slug] : [])));
  return judged.flat();
}

/** Workspaces of a signed-in person that were deleted and can be brought back. */
export async function restorableOf(headers: Headers): Promise<{ id: string; slug: string; name: string }[]> {
  const person = await personOf(headers);
  return person ? (await deletedWorkspaces({ ...person, db: db(), now: new Date() })).workspaces : [];
}

/** Where somebody without a session begins: on a fresh installation there is nobody to be welcomed back. */
export const entrance = async (): Promise<'/signin' | '/signup'> => ((await nobodyYet(db())) ? '/signup' : '/signin');

/** The addresses a workspace's snippets are made of. */
export const addressesOf = (slug: string, space: Space) => ({ api_url: apiUrl(space), proxy_url: proxyUrl(slug, space) });

/** Logs of a workspace that a smaller plan is about to take. A notice that cannot be read must not take the page with it. */
export const shrinkingOf = (tenantId: string): Promise<Shrinking[]> => shrinkingWindows(tenantId, new Date()).catch(() => []);

/** Since when the workspace is sealed and why, for people who can do something about it. Like the notice above it never takes the page with it. */
export const sealOf = async ({ id, role }: { id: string; role: string }): Promise<{ reason: string; error: string | null } | null> => {
  if (role !== 'owner' && role !== 'admin') return null;
  const row = await db()
    .tenant_kms_configs.findUnique({ where: { tenant_id: id }, select: { sealed_reason: true, last_verify_error: true } })
    .catch(() => null);
  return row?.sealed_reason ? { reason: row.sealed_reason, error: row.last_verify_error } : null;
};
