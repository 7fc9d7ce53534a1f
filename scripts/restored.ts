import pg from 'pg';

type Found = { user: string; role: boolean; member: boolean; bare: string[] };

/**
 * What a restore without the role of tenant-scoped transactions loses, as a sentence with the next step; undefined when nothing is missing.
 * pg_dump leaves roles out, and pg_restore goes on past every grant and policy that names a missing one: such a database answers no call.
 */
export async function lostInRestore(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const { rows } = await client.query<Found>(`
      select current_user as user, r.oid is not null as role, coalesce(pg_has_role(current_user, r.oid, 'member'), false) as member,
        array(select c.relname::text from pg_class c where c.relnamespace = 'public'::regnamespace and c.relrowsecurity
          and not exists (select from pg_policy p where p.polrelid = c.oid) order by 1) as bare
      from (select 1) one left join pg_roles r on r.rolname = 'sallyport_app'`);
    const [found] = rows;
    if (!found || (found.role && found.member && found.bare.length === 0)) return undefined;
    const user = pg.escapeIdentifier(found.user);
    if (found.role && found.bare.length === 0)
      return `the database user ${found.user} may not act as the role sallyport_app. Run: GRANT sallyport_app TO ${user};`;
    return `this database was restored without the role sallyport_app, so grants and row policies are missing. Restore it again into an empty database, after: CREATE ROLE sallyport_app NOLOGIN; GRANT sallyport_app TO ${user};`;
  } finally {
    await client.end();
  }
}
