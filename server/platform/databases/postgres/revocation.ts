import { plainName } from '../engine.ts';

/**
 * Two statements, safe to repeat, for an admin that is no superuser (interface rule 44 §4.3). The first commits before sessions are cut, so that no new
 * one slips in. REASSIGN OWNED and DROP OWNED ask for membership; it comes first, because with it sessions can be cut without pg_signal_backend too.
 * What the admin inherits must not run with its rights: routines and views become those of whoever calls them, and rules are switched off.
 */
export function postgresRevocation(username: string): [lock: string, drop: string] {
  const name = plainName(username);
  return [
    `DO $a$ BEGIN IF EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = '${name}') THEN
  EXECUTE 'ALTER ROLE "${name}" WITH NOLOGIN VALID UNTIL ''1970-01-01 00:00:00+00'''; END IF; END $a$`,
    `DO $b$ DECLARE who oid; command text; BEGIN
  SELECT oid INTO who FROM pg_catalog.pg_roles WHERE rolname = '${name}';
  IF who IS NOT NULL THEN
  EXECUTE 'GRANT "${name}" TO CURRENT_USER';
  PERFORM pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity WHERE usename = '${name}' AND pid <> pg_catalog.pg_backend_pid();
  FOR command IN ${HARMLESS} LOOP EXECUTE command; END LOOP;
  EXECUTE 'REASSIGN OWNED BY "${name}" TO CURRENT_USER';
  EXECUTE 'DROP OWNED BY "${name}"';
  EXECUTE 'DROP ROLE "${name}"'; END IF; END $b$`,
  ];
}

/** Views have `security_invoker` since PostgreSQL 15; before, whoever else may read one may no longer. */
const HARMLESS = `SELECT pg_catalog.format('ALTER ROUTINE %s SECURITY INVOKER', p.oid::pg_catalog.regprocedure)
      FROM pg_catalog.pg_proc p WHERE p.proowner = who AND p.prosecdef
    UNION ALL SELECT pg_catalog.format('ALTER VIEW %s SET (security_invoker = true)', c.oid::pg_catalog.regclass)
      FROM pg_catalog.pg_class c WHERE c.relowner = who AND c.relkind = 'v' AND pg_catalog.current_setting('server_version_num')::int >= 150000
    UNION ALL SELECT pg_catalog.format('REVOKE ALL ON %s FROM %s', c.oid::pg_catalog.regclass, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::pg_catalog.regrole::text END)
      FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
      WHERE c.relowner = who AND c.relkind = 'v' AND a.grantee <> who AND pg_catalog.current_setting('server_version_num')::int < 150000
    UNION ALL SELECT pg_catalog.format('ALTER TABLE %s DISABLE RULE %I', c.oid::pg_catalog.regclass, r.rulename)
      FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class WHERE c.relowner = who AND c.relkind IN ('r', 'p')`;
