import { plainName } from '../engine.ts';

/**
 * Two statements, safe to repeat, for an admin that is no superuser (interface rule 44 §4.3). The first commits before sessions are cut, so that no new
 * one slips in. REASSIGN OWNED and DROP OWNED ask for membership; it comes first, because with it sessions can be cut without pg_signal_backend too.
 */
export function postgresRevocation(username: string): [lock: string, drop: string] {
  const name = plainName(username);
  return [
    `DO $a$ BEGIN IF EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = '${name}') THEN
  EXECUTE 'ALTER ROLE "${name}" WITH NOLOGIN VALID UNTIL ''1970-01-01 00:00:00+00'''; END IF; END $a$`,
    `DO $b$ BEGIN IF EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = '${name}') THEN
  EXECUTE 'GRANT "${name}" TO CURRENT_USER';
  PERFORM pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity WHERE usename = '${name}' AND pid <> pg_catalog.pg_backend_pid();
  EXECUTE 'REASSIGN OWNED BY "${name}" TO CURRENT_USER';
  EXECUTE 'DROP OWNED BY "${name}"';
  EXECUTE 'DROP ROLE "${name}"'; END IF; END $b$`,
  ];
}
