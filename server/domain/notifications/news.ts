import { CHANGELOG } from '#server/domain/changelog/entries.shared.ts';
import type { Db } from '#server/kernel/database.ts';
import { KEPT_DAYS } from './kinds.shared.ts';

/** Older entries of the changelog are no news. */
const NEWS_DAYS = 7;
const DAY = 86_400_000;

/**
 * Tells everybody who was a member before it of what is new in the product: in the app, or by mail where a person asked for that. Nobody is told of the same
 * entry twice. @returns notifications written
 */
export async function tellNews(db: Pick<Db, '$executeRaw'>, now: Date, entries: typeof CHANGELOG = CHANGELOG): Promise<number> {
  let told = 0;
  for (const { id, date, title, text } of entries) {
    const released = new Date(`${date}T00:00:00Z`);
    if (now.getTime() - released.getTime() > Math.min(NEWS_DAYS, KEPT_DAYS) * DAY) continue;
    told += await db.$executeRaw`
      insert into notifications (id, tenant_id, user_id, space, kind, severity, title, body, group_key, source, created_at, read_at, mail_at)
      select gen_random_uuid(), m.tenant_id, m.user_id, 'workspace', 'product', 'info', ${title}, ${text}, ${`product:${id}`}, ${`changelog:${id}`}, ${now},
        case when w.in_app then null else ${now}::timestamptz end, case when w.email then ${now}::timestamptz end
      from memberships m join users u on u.id = m.user_id join tenants t on t.id = m.tenant_id
        left join notification_settings s on s.tenant_id = m.tenant_id and s.user_id = m.user_id
        cross join lateral (select coalesce((s.channels -> 'product' ->> 'in_app')::boolean, true) as in_app,
          coalesce((s.channels -> 'product' ->> 'email')::boolean, false) as email) w
      where m.removed_at is null and u.disabled_at is null and t.deleted_at is null and m.joined_at < ${released} and (w.in_app or w.email)
      on conflict (tenant_id, user_id, source) do nothing`;
  }
  return told;
}
