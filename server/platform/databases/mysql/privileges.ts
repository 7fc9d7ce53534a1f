import type { AdminUse } from '../engine.ts';
import type { Wire } from '../wire.ts';

type Grant = { privileges: Set<string>; on: string; grantable: boolean };

/** What the admin lacks to mint and remove users of the built-in templates, read from its own grants. */
export async function missingPrivileges(wire: Wire, database: string | null, use: AdminUse): Promise<string[]> {
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
    const places = ['*.*', `${database}.*`];
    // The option counts for every privilege that holds here, whichever level has it.
    const passes = grants.some(({ grantable, on }) => grantable && places.includes(on));
    const lacked = GRANTED[use].filter((privilege) => !passes || !has(privilege, places));
    lacks.push([lacked.length === 0, `${lacked.join(', ')} ON \`${database}\`.* WITH GRANT OPTION`]);
  }
  return lacks.filter(([have]) => !have).map(([, what]) => what);
}

/** What the built-in templates grant. */
const GRANTED: Readonly<Record<AdminUse, readonly string[]>> = {
  readonly: ['SELECT'],
  readwrite: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
};

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
