import pg from 'pg';
import { databaseClient } from './database-client.ts';

type Found = { user: string; tables: boolean; makes: boolean; role: boolean; member: boolean; bare: string[] };

/**
 * Why the service could not act as the role of tenant-scoped transactions in this database, as a sentence with the next step; undefined when it can, or
 * the first migration will see to it. pg_dump leaves roles out, and pg_restore goes on past every grant and policy that names a missing one: such a
 * database answers no call.
 */
export async function roleProblem(url: string): Promise<string | undefined> {
  const client = databaseClient(url);
  try {
    await client.connect();
    const { rows } = await client.query<Found>(`
      select current_user as user, to_regclass('public.tenants') is not null as tables, r.oid is not null as role,
        me.rolsuper or me.rolcreaterole and (r.oid is null or v.n < 160000 or pg_has_role(me.oid, r.oid, 'MEMBER WITH ADMIN OPTION')) as makes,
        coalesce(case when v.n >= 160000 then pg_has_role(me.oid, r.oid, 'SET') else pg_has_role(me.oid, r.oid, 'MEMBER') end, false) as member,
        array(select c.relname::text from pg_class c where c.relnamespace = 'public'::regnamespace and c.relrowsecurity
          and not exists (select from pg_policy p where p.polrelid = c.oid) order by 1) as bare
      from (select current_setting('server_version_num')::int as n) v, pg_roles me left join pg_roles r on r.rolname = 'sallyport_app'
      where me.rolname = current_user`);
    return rows[0] && sentenceOf(rows[0]);
  } catch (error) {
    if ((error as { code?: string }).code === '3D000') return undefined; // a database that will be made
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

function sentenceOf({ user, tables, makes, role, member, bare }: Found): string | undefined {
  const make = 'CREATE ROLE sallyport_app NOLOGIN;';
  const grant = `GRANT sallyport_app TO ${pg.escapeIdentifier(user)};`;
  if (!tables && (member || makes)) return undefined;
  if (!tables && !role) return `the database user ${user} can't create the role sallyport_app. Run as a superuser: ${make} ${grant}`;
  if (!tables) return `the database user ${user} can't act as the role sallyport_app. Run as a superuser: ${grant}`;
  if (role && bare.length === 0)
    return member ? undefined : `the database user ${user} can't act as the role sallyport_app. Run as a superuser: ${grant}`;
  return `this database was restored without the role sallyport_app, so grants and row policies are missing. Run ${make} ${grant} Then restore it again into an empty database`;
}
