import type { Snippet } from '#components/ui/code-block.tsx';
import type { Engine } from '#server/domain/dyn-db/engines.shared.ts';

/** `exists`: the user has logged in, so that it is changed and not created. */
export type GrantsFor = { engine: Engine; iam: boolean; username: string; database: string; region: string; exists?: boolean };
/** Who assumes a role of IAM: this installation, for this workspace alone. Null where that isn't known. */
export type Trusted = { external_id: string | null; aws_principal: string | null };

/** What gives the admin user of a connection the rights that the built-in templates need, and no more than the engine makes possible. */
export function grantsFor(
  { engine, iam, username, database, region, exists = false }: GrantsFor,
  trusted: Trusted = NOBODY,
): readonly [Snippet, ...Snippet[]] {
  const user = username || (iam ? 'app_user' : 'sallyport');
  const name = database || 'app';
  if (iam) {
    const sql = IAM[engine === 'mysql' ? 'mysql' : 'postgres'](user);
    return [{ id: 'sql', label: 'SQL', language: 'text', code: sql }, policyOf(user, region), trustOf(trusted)];
  }
  const [first, ...others] = LABELS[engine];
  const of = (label: string): Snippet => ({ id: label, label, language: 'text', code: SCRIPTS[engine](user, name, label, exists) });
  return [of(first), ...others.map(of)];
}

const LABELS: Readonly<Record<Engine, readonly [string, ...string[]]>> = {
  postgres: ['SQL'],
  mysql: ['MySQL', 'MariaDB'],
  mssql: ['T-SQL'],
  mongo: ['mongosh'],
};
/** Stands where the person puts the password in: it is never written into a script. */
const PASSWORD = 'CHOOSE A PASSWORD';

const SCRIPTS: Readonly<Record<Engine, (user: string, database: string, dialect: string, exists: boolean) => string>> = {
  postgres(user, database, _, exists) {
    const [admin, base] = [doubled(user, '"'), doubled(database, '"')];
    return [
      exists ? `ALTER ROLE ${admin} CREATEROLE;` : `CREATE ROLE ${admin} WITH LOGIN CREATEROLE PASSWORD '${PASSWORD}';`,
      `GRANT pg_signal_backend TO ${admin};`,
      '',
      `-- In the database ${base}, as the owner of its tables:`,
      `GRANT CONNECT ON DATABASE ${base} TO ${admin} WITH GRANT OPTION;`,
      `GRANT USAGE ON SCHEMA public TO ${admin} WITH GRANT OPTION;`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${admin} WITH GRANT OPTION;`,
      `GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO ${admin} WITH GRANT OPTION;`,
      '-- The same for what is created later:',
      `ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${admin} WITH GRANT OPTION;`,
      `ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO ${admin} WITH GRANT OPTION;`,
    ].join('\n');
  },
  mysql(user, database, dialect, exists) {
    const admin = `'${user.replaceAll('\\', '\\\\').replaceAll("'", "''")}'@'%'`;
    return [
      ...(exists ? [] : [`CREATE USER ${admin} IDENTIFIED BY '${PASSWORD}';`]),
      `GRANT CREATE USER, PROCESS, ${dialect === 'MariaDB' ? 'CONNECTION ADMIN' : 'CONNECTION_ADMIN'} ON *.* TO ${admin};`,
      `GRANT SELECT ON mysql.user TO ${admin};`,
      // An underscore stands for any character in the name of a database there.
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ${doubled(database.replaceAll('_', '\\_'), '`')}.* TO ${admin} WITH GRANT OPTION;`,
    ].join('\n');
  },
  mssql(user, database, _, exists) {
    const [admin, base] = [bracketed(user), bracketed(database)];
    return [
      'USE master;',
      ...(exists ? [] : [`CREATE LOGIN ${admin} WITH PASSWORD = N'${PASSWORD}';`]),
      `GRANT ALTER ANY LOGIN, ALTER ANY CONNECTION, VIEW SERVER STATE TO ${admin};`,
      '',
      `USE ${base};`,
      `${exists ? `IF USER_ID(N'${user.replaceAll("'", "''")}') IS NULL ` : ''}CREATE USER ${admin} FOR LOGIN ${admin};`,
      '-- Only db_owner may add members to db_datareader and db_datawriter:',
      `ALTER ROLE db_owner ADD MEMBER ${admin};`,
    ].join('\n');
  },
  mongo(user, database, _, exists) {
    const roles = `[{ role: "userAdmin", db: ${JSON.stringify(database)} }, "sallyportSessions"]`;
    return [
      ...(exists ? ['// Leave this out if the role exists:'] : []),
      'db.getSiblingDB("admin").createRole({',
      '  role: "sallyportSessions",',
      '  privileges: [',
      '    { resource: { cluster: true }, actions: ["killAnySession"] },',
      '    { resource: { db: "admin", collection: "" }, actions: ["changeOwnPassword"] }',
      '  ],',
      '  roles: []',
      '})',
      ...(exists
        ? [`db.getSiblingDB("admin").grantRolesToUser(${JSON.stringify(user)}, ${roles})`]
        : [
            'db.getSiblingDB("admin").createUser({',
            `  user: ${JSON.stringify(user)},`,
            '  pwd: passwordPrompt(),',
            `  roles: ${roles}`,
            '})',
          ]),
    ].join('\n');
  },
};

const IAM = {
  postgres: (user: string) => [`CREATE ROLE ${doubled(user, '"')} WITH LOGIN;`, `GRANT rds_iam TO ${doubled(user, '"')};`].join('\n'),
  mysql: (user: string) =>
    `CREATE USER '${user.replaceAll('\\', '\\\\').replaceAll("'", "''")}' IDENTIFIED WITH AWSAuthenticationPlugin AS 'RDS';`,
};

const NOBODY: Trusted = { external_id: null, aws_principal: null };

const policyOf = (user: string, region: string): Snippet => ({
  id: 'policy',
  label: 'Permissions of the role',
  language: 'json',
  code: json({
    Effect: 'Allow',
    Action: 'rds-db:connect',
    Resource: `arn:aws:rds-db:${region || 'REGION'}:ACCOUNT:dbuser:DB_RESOURCE_ID/${user}`,
  }),
});

const trustOf = ({ external_id, aws_principal }: Trusted): Snippet => ({
  id: 'trust',
  label: 'Trust of the role',
  language: 'json',
  code: json({
    Effect: 'Allow',
    Principal: { AWS: aws_principal ?? 'ARN OF THIS INSTALLATION (ASK ITS OPERATOR)' },
    Action: 'sts:AssumeRole',
    Condition: { StringEquals: { 'sts:ExternalId': external_id ?? 'EXTERNAL ID OF THE WORKSPACE (ASK AN OWNER)' } },
  }),
});

const json = (statement: object) => JSON.stringify({ Version: '2012-10-17', Statement: [statement] }, null, 2);

const doubled = (text: string, quote: string) => `${quote}${text.replaceAll(quote, quote + quote)}${quote}`;
const bracketed = (text: string) => `[${text.replaceAll(']', ']]')}]`;
