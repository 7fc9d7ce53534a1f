import type { Wire } from '../wire.ts';

type Grant = { privileges: Set<string>; on: string; grantable: boolean };

/** What the admin lacks to mint and remove users of the built-in templates, read from its own grants. */
export async function missingPrivileges(wire: Wire, database: string | null): Promise<string[]> {
  const rows = await wire.query('SHOW GRANTS FOR CURRENT_USER()');
  const grants = rows.flatMap((row) => grantIn(String(Object.values(row)[0])) ?? []);
  const has = (privilege: string, on: readonly string[]) =>
    grants.some((grant) => on.includes(grant.on) && (grant.privileges.has('ALL PRIVILEGES') || grant.privileges.has(privilege)));
  const everywhere = ['*.*'];
  const kills = ['CONNECTION_ADMIN', 'CONNECTION ADMIN', 'SUPER'].some((privilege) => has(privilege, everywhere));
  const reads = has('SELECT', ['*.*', 'mysql.*', 'mysql.user']);
  const lacks: [have: boolean, what: string][] = [
    [has('CREATE USER', everywhere), 'CREATE USER ON *.*'],
    [kills, 'CONNECTION_ADMIN (MySQL 8), CONNECTION ADMIN (MariaDB 10.5) or SUPER ON *.*'],
    [has('PROCESS', everywhere), 'PROCESS ON *.*'],
    [reads, 'SELECT ON mysql.user'],
  ];
  if (database !== null) {
    const passes = grants.some(
      ({ privileges, on, grantable }) =>
        grantable && ['*.*', `${database}.*`].includes(on) && (privileges.has('ALL PRIVILEGES') || privileges.has('SELECT')),
    );
    lacks.push([passes, `SELECT ON \`${database}\`.* WITH GRANT OPTION`]);
  }
  return lacks.filter(([have]) => !have).map(([, what]) => what);
}

/** Of `GRANT SELECT, CREATE USER ON *.* TO …`. */
function grantIn(line: string): Grant | undefined {
  if (!line.startsWith('GRANT ')) return undefined;
  const on = line.indexOf(' ON ');
  const to = line.indexOf(' TO ', on);
  if (on < 0 || to < 0) return undefined;
  const place = line
    .slice(on + 4, to)
    .replaceAll('`', '')
    .replaceAll('\\', '');
  const privileges = new Set(
    line
      .slice(6, on)
      .split(',')
      .map((one) => one.trim()),
  );
  return { privileges, on: place, grantable: line.includes(' WITH GRANT OPTION', to) };
}
