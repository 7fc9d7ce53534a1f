import { expirationText, fillIn, renderStatements } from './placeholders.shared.ts';
import type { ConnectionRow, LeaseRow, RoleRow } from './store.ts';
import { forUserHost } from './templates.shared.ts';
import { renderUserDocument } from './user-documents.shared.ts';

export type NewUserValues = { username: string; password: string; expires_at: Date };

/** The statements that make a user of a role; for MongoDB the document of its rights. */
export function creationOf(connection: ConnectionRow, role: RoleRow, { username, password, expires_at }: NewUserValues): string[] {
  const text = role.creation_sql_template ?? '';
  const values = { username, password, expiration: expirationText(expires_at), role: role.name, ...databaseOf(connection.database_name) };
  if (connection.engine === 'mongo') return [JSON.stringify(renderUserDocument(text, (part) => fillIn(part, values, 'mongo')))];
  return renderStatements(hosted(connection, text), connection.engine, values);
}

/** What of a role is kept with a lease; null for the engine's own removal. */
export const revocationTemplateOf = (connection: ConnectionRow, { revocation_sql_template }: RoleRow): string | null =>
  revocation_sql_template === null ? null : hosted(connection, revocation_sql_template);

/** The statements that remove a lease's user; null for the engine's own. */
export function revocationOf({ engine, revocation_sql, username, role_name, target }: LeaseRow): string[] | null {
  if (revocation_sql === null || engine === 'mongo') return null;
  return renderStatements(revocation_sql, engine, { username, role: role_name, ...databaseOf(target.database ?? null) });
}

const databaseOf = (name: string | null) => (name === null ? {} : { database: name });

const hosted = ({ engine, connect_options }: ConnectionRow, text: string) =>
  engine === 'mysql' ? forUserHost(text, connect_options.user_host ?? '%') : text;
