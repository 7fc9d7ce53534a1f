import { type AdminUse, plainName } from '../engine.ts';
import { DatabaseFault } from '../fault.ts';
import { fitText } from '../texts.ts';
import type { Wire } from '../wire.ts';

type Place = 'DATABASE' | 'SCHEMA' | 'TABLES' | 'SEQUENCES';
type Rights = Readonly<Partial<Record<Place, readonly string[]>>>;

/** What the built-in templates grant, in the schema `public`. */
const RIGHTS: Readonly<Record<AdminUse, Rights>> = {
  readonly: { DATABASE: ['CONNECT'], SCHEMA: ['USAGE'], TABLES: ['SELECT'], SEQUENCES: ['SELECT'] },
  readwrite: { DATABASE: ['CONNECT'], SCHEMA: ['USAGE'], TABLES: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'], SEQUENCES: ['USAGE', 'SELECT'] },
};

/** What the admin lacks to mint and remove users of the built-in templates. */
export async function missingPrivileges(wire: Wire, use: AdminUse): Promise<string[]> {
  const [found] = await wire.query(QUESTION);
  if (!found || found.superuser === true) return [];
  const rights = await lackedRights(wire, 'CURRENT_USER', RIGHTS[use], ' WITH GRANT OPTION');
  return [...(found.createrole === true ? [] : ['CREATEROLE']), ...rights, ...(found.signal === true ? [] : ['pg_signal_backend'])];
}

const QUESTION = `SELECT r.rolsuper AS superuser, r.rolcreaterole AS createrole,
  pg_catalog.pg_has_role(CURRENT_USER, 'pg_signal_backend', 'MEMBER') AS signal
FROM pg_catalog.pg_roles r WHERE r.rolname = CURRENT_USER`;

/**
 * A GRANT of rights that the admin may not hand on doesn't fail: PostgreSQL warns and does less. Such a statement is a fault, unless the new user has the
 * rights all the same, as from PUBLIC. @throws DatabaseFault
 */
export async function assertGranted(wire: Wire, username: string, statement: string): Promise<void> {
  const warning = wire.lessGranted?.() ?? null;
  if (warning === null) return;
  const granted = grantIn(statement);
  const lacked = granted ? await lackedRights(wire, `'${plainName(username)}'`, granted, '') : ['what this statement grants'];
  if (lacked.length === 0) return;
  const text = `${warning}. The admin user can't grant ${lacked.join('; ')}: give it that WITH GRANT OPTION, and mint again`;
  throw new DatabaseFault('database_error', 'statement', fitText(text, wire.concealed), { code: LESS_GRANTED });
}

/** SQLSTATE privilege_not_granted, of a warning. */
export const LESS_GRANTED = '01007';

const WORDS = new Set(['CONNECT', 'USAGE', 'SELECT', 'INSERT', 'UPDATE', 'DELETE']);
const PLACES: readonly [prefix: string, Place][] = [
  ['DATABASE ', 'DATABASE'],
  ['SCHEMA PUBLIC ', 'SCHEMA'],
  ['ALL TABLES IN SCHEMA PUBLIC ', 'TABLES'],
  ['ALL SEQUENCES IN SCHEMA PUBLIC ', 'SEQUENCES'],
];

/** The rights of a GRANT as the built-in templates have it; undefined for another statement. */
function grantIn(statement: string): Rights | undefined {
  const text = statement.trim().toUpperCase();
  const on = text.indexOf(' ON ');
  if (!text.startsWith('GRANT ') || on < 0) return undefined;
  const privileges = text
    .slice('GRANT '.length, on)
    .split(',')
    .map((one) => one.trim());
  const place = PLACES.find(([prefix]) => text.startsWith(prefix, on + ' ON '.length))?.[1];
  return place && privileges.every((one) => WORDS.has(one)) ? { [place]: privileges } : undefined;
}

/** Of these rights, those that a role lacks, in the words of a GRANT. */
async function lackedRights(wire: Wire, role: string, rights: Rights, option: '' | ' WITH GRANT OPTION'): Promise<string[]> {
  const of = (place: Place) => `pg_catalog.unnest(ARRAY[${(rights[place] ?? []).map((one) => `'${one}'`).join(', ')}]::text[]) AS p`;
  const rows = await wire.query(`SELECT 'DATABASE' AS place, p AS privilege, 1 AS lacking, pg_catalog.current_database() AS database
      FROM ${of('DATABASE')} WHERE NOT pg_catalog.has_database_privilege(${role}, pg_catalog.current_database(), p || '${option}')
    UNION ALL SELECT 'SCHEMA', p, 1, '' FROM ${of('SCHEMA')} CROSS JOIN pg_catalog.pg_namespace n
      WHERE n.nspname = 'public' AND NOT pg_catalog.has_schema_privilege(${role}, n.oid, p || '${option}')
    UNION ALL SELECT 'TABLES', p, count(*)::int, '' FROM ${of('TABLES')} CROSS JOIN pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'public' AND c.relkind IN ('r', 'v', 'm', 'f', 'p') AND NOT pg_catalog.has_table_privilege(${role}, c.oid, p || '${option}') GROUP BY p
    UNION ALL SELECT 'SEQUENCES', p, count(*)::int, '' FROM ${of('SEQUENCES')} CROSS JOIN pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'public' AND CASE c.relkind WHEN 'S' THEN NOT pg_catalog.has_sequence_privilege(${role}, c.oid, p || '${option}') ELSE false END GROUP BY p`);
  return PLACES.flatMap(([, place]) => {
    const here = rows.filter((row) => row.place === place);
    const lacked = (rights[place] ?? []).filter((privilege) => here.some((row) => row.privilege === privilege));
    if (lacked.length === 0) return [];
    const most = Math.max(...here.map((row) => Number(row.lacking)));
    const words = lacked.join(', ');
    if (place === 'DATABASE') return [`${words} ON DATABASE "${String(here[0]?.database).replaceAll('"', '""')}"${option}`];
    if (place === 'SCHEMA') return [`${words} ON SCHEMA public${option}`];
    return [`${words} ON ALL ${place} IN SCHEMA public${option} (${most} without)`];
  });
}
