import type { Wire } from '../wire.ts';

/**
 * What the admin lacks to mint and remove users of the built-in templates. Rights on tables are those of the schema `public`; missing ones don't fail a
 * GRANT but leave it without effect.
 */
export async function missingPrivileges(wire: Wire): Promise<string[]> {
  const [found] = await wire.query(QUESTION);
  if (!found || found.superuser === true) return [];
  const database = `"${String(found.database).replaceAll('"', '""')}"`;
  const lacks: [have: unknown, what: string][] = [
    [found.createrole, 'CREATEROLE'],
    [found.connect, `CONNECT ON DATABASE ${database} WITH GRANT OPTION`],
    [found.usage, 'USAGE ON SCHEMA public WITH GRANT OPTION'],
    [found.tables === 0, `SELECT ON ALL TABLES IN SCHEMA public WITH GRANT OPTION (${found.tables} without)`],
    [found.sequences === 0, `SELECT ON ALL SEQUENCES IN SCHEMA public WITH GRANT OPTION (${found.sequences} without)`],
    [found.signal, 'pg_signal_backend'],
  ];
  return lacks.filter(([have]) => have !== true).map(([, what]) => what);
}

const QUESTION = `SELECT r.rolsuper AS superuser, r.rolcreaterole AS createrole, pg_catalog.current_database() AS database,
  pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CONNECT WITH GRANT OPTION') AS connect,
  COALESCE((SELECT pg_catalog.has_schema_privilege(n.oid, 'USAGE WITH GRANT OPTION') FROM pg_catalog.pg_namespace n WHERE n.nspname = 'public'), true) AS usage,
  (SELECT count(*)::int FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'public' AND c.relkind IN ('r', 'v', 'm', 'f', 'p') AND NOT pg_catalog.has_table_privilege(c.oid, 'SELECT WITH GRANT OPTION')) AS tables,
  (SELECT count(*)::int FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'public' AND CASE c.relkind WHEN 'S' THEN NOT pg_catalog.has_sequence_privilege(c.oid, 'SELECT WITH GRANT OPTION') ELSE false END) AS sequences,
  pg_catalog.pg_has_role(CURRENT_USER, 'pg_signal_backend', 'MEMBER') AS signal
FROM pg_catalog.pg_roles r WHERE r.rolname = CURRENT_USER`;
