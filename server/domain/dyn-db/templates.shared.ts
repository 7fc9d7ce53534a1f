import { ENGINES, type Engine, type SqlEngine } from './engines.shared.ts';
import { expirationText, fillIn, type PlaceholderValues, renderStatements } from './placeholders.shared.ts';
import { renderUserDocument } from './user-documents.shared.ts';

/** A template that comes with the service (interface rule 44 §4.3). */
export type BuiltInTemplate = { name: string; engine: Engine; label: string; description: string; creation: string; revocation: string };

type Access = 'readonly' | 'readwrite';

const postgresCreation = (
  tables: string,
  sequences: string,
) => `CREATE ROLE "{{username}}" WITH LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE CONNECTION LIMIT 20 PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';
GRANT CONNECT ON DATABASE "{{database}}" TO "{{username}}";
GRANT USAGE ON SCHEMA public TO "{{username}}";
GRANT ${tables} ON ALL TABLES IN SCHEMA public TO "{{username}}";
GRANT ${sequences} ON ALL SEQUENCES IN SCHEMA public TO "{{username}}";`;

const mysqlCreation = (privileges: string) => `CREATE USER '{{username}}'@'%' IDENTIFIED BY '{{password}}' WITH MAX_USER_CONNECTIONS 20;
GRANT ${privileges} ON \`{{database}}\`.* TO '{{username}}'@'%';`;

const mssqlCreation = (roles: readonly string[]) =>
  [
    `CREATE LOGIN [{{username}}] WITH PASSWORD = '{{password}}', DEFAULT_DATABASE = [{{database}}];`,
    'CREATE USER [{{username}}] FOR LOGIN [{{username}}];',
    ...roles.map((role) => `ALTER ROLE ${role} ADD MEMBER [{{username}}];`),
  ].join('\n');

const mongoCreation = (role: string) => `{
  "roles": [{ "role": "${role}", "db": "{{database}}" }],
  "mechanisms": ["SCRAM-SHA-256"]
}`;

const CREATION: Readonly<Record<Engine, Readonly<Record<Access, string>>>> = {
  postgres: {
    readonly: postgresCreation('SELECT', 'SELECT'),
    readwrite: postgresCreation('SELECT, INSERT, UPDATE, DELETE', 'USAGE, SELECT'),
  },
  mysql: { readonly: mysqlCreation('SELECT'), readwrite: mysqlCreation('SELECT, INSERT, UPDATE, DELETE') },
  mssql: { readonly: mssqlCreation(['db_datareader']), readwrite: mssqlCreation(['db_datareader', 'db_datawriter']) },
  mongo: { readonly: mongoCreation('read'), readwrite: mongoCreation('readWrite') },
};

/**
 * What a role of its own may start from to remove a user. Without it the engine removes the user, which also takes away what its routines could do with the
 * administrator's rights (`server/platform/databases`). Each statement can run again after any failure. PostgreSQL: the first commits before
 * sessions are cut, so no new one slips in, and the grant to itself is what REASSIGN and DROP OWNED ask of an administrator who is no superuser. MySQL:
 * the executor ends the threads of `SESSIONS` between the statements. SQL Server: its variables live in one batch, so the second statement has no
 * semicolons. MongoDB: no statements; the executor runs killAllSessionsByPattern and dropUser.
 */
export const DEFAULT_REVOCATION: Readonly<Record<Engine, string>> = {
  postgres: `DO $a$ BEGIN IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{{username}}') THEN
  EXECUTE 'ALTER ROLE "{{username}}" WITH NOLOGIN VALID UNTIL ''1970-01-01 00:00:00+00'''; END IF; END $a$;
DO $b$ BEGIN IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{{username}}') THEN
  PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{{username}}' AND pid <> pg_backend_pid();
  EXECUTE 'GRANT "{{username}}" TO CURRENT_USER';
  EXECUTE 'REASSIGN OWNED BY "{{username}}" TO CURRENT_USER';
  EXECUTE 'DROP OWNED BY "{{username}}"';
  EXECUTE 'DROP ROLE "{{username}}"'; END IF; END $b$;`,
  mysql: `ALTER USER IF EXISTS '{{username}}'@'%' ACCOUNT LOCK;
DROP USER IF EXISTS '{{username}}'@'%';`,
  mssql: `IF EXISTS (SELECT 1 FROM sys.server_principals WHERE name = N'{{username}}') ALTER LOGIN [{{username}}] DISABLE;
DECLARE @kill nvarchar(max) = N'' SELECT @kill += N'KILL ' + CAST(session_id AS nvarchar(10)) + N' ' FROM sys.dm_exec_sessions WHERE login_name = N'{{username}}' AND session_id <> @@SPID EXEC (@kill);
DROP USER IF EXISTS [{{username}}];
IF EXISTS (SELECT 1 FROM sys.server_principals WHERE name = N'{{username}}') DROP LOGIN [{{username}}];`,
  mongo: '',
};

/** Open threads of a user of MySQL, each to be ended with KILL <id>. */
export const MYSQL_SESSIONS = "SELECT id FROM information_schema.processlist WHERE user = '{{username}}'";

/** Moves the end of a user of PostgreSQL; other engines keep it with the lease alone. */
export const POSTGRES_RENEWAL = `ALTER ROLE "{{username}}" VALID UNTIL '{{expiration}}'`;

const ABOUT: Readonly<Record<Access, { label: string; postgres: string; others: string }>> = {
  readonly: { label: 'Read only', postgres: 'Reads every table of the schema public.', others: 'Reads the whole database.' },
  readwrite: {
    label: 'Read and write',
    postgres: 'Reads and changes the rows of every table of the schema public.',
    others: 'Reads and changes the rows of the whole database.',
  },
};

/** All eight, by engine. */
export const BUILT_IN_TEMPLATES: readonly BuiltInTemplate[] = ENGINES.flatMap((engine) =>
  (['readonly', 'readwrite'] as const).map((access) => ({
    name: `${engine}-${access}`,
    engine,
    label: ABOUT[access].label,
    description: ABOUT[access][engine === 'postgres' ? 'postgres' : 'others'],
    creation: CREATION[engine][access],
    revocation: DEFAULT_REVOCATION[engine],
  })),
);

/** The template of a name for an engine, or undefined: postgres-readonly, or short readonly. */
export const builtInTemplate = (name: string, engine: Engine): BuiltInTemplate | undefined =>
  BUILT_IN_TEMPLATES.find((template) => template.engine === engine && (template.name === name || template.name === `${engine}-${name}`));

/** Hosts that users of MySQL may come from (connect_options.user_host): a pattern of addresses or names, %, or an address with its mask. */
export const USER_HOST = /^[A-Za-z0-9.:%_/-]{1,255}$/;

/** Statements of a built-in template for users of one host; the text as it is for %, and on other engines. */
export function forUserHost(text: string, userHost: string): string {
  if (!USER_HOST.test(userHost)) throw new Error('The host of users contains characters that are not allowed.');
  return text.replaceAll("'{{username}}'@'%'", () => `'{{username}}'@'${userHost}'`);
}

/** What the page shows a script with: a user that doesn't exist, and never a password that does. */
export const SAMPLE_VALUES: Readonly<Required<PlaceholderValues>> = {
  username: 'svc_readonly_k3j7x2m4pq_t8aeo0',
  password: 'Example-password_not-a-real-one0',
  expiration: expirationText(new Date(Date.UTC(2030, 0, 2, 3, 4, 5))),
  database: 'app',
  role: 'readonly',
};

/** The statements a script stands for, with sample values; the document of MongoDB is one. Throws for a script that was refused. */
export function dryRun(text: string, engine: Engine, values: PlaceholderValues = {}): string[] {
  const all = { ...SAMPLE_VALUES, ...values };
  if (engine !== 'mongo') return renderStatements(text, engine satisfies SqlEngine, all);
  const document = renderUserDocument(text, (each) => fillIn(each, all, 'mongo'));
  return [JSON.stringify({ createUser: all.username, pwd: all.password, ...document }, null, 2)];
}
