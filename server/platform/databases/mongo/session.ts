import { retryingWire } from '../conflicts.ts';
import { type DatabaseSession, type DatabaseTarget, isMinted, plainName, plainPassword, type Row } from '../engine.ts';
import { DatabaseFault } from '../fault.ts';
import type { Wire } from '../wire.ts';

const USER_NOT_FOUND = '11';
/** Not allowed, and unknown to servers that only resemble MongoDB: sessions of a dropped user have no rights left anyway. */
const CANNOT_KILL = new Set(['13', '59']);
const KEYS = ['roles', 'mechanisms', 'authenticationRestrictions', 'customData'];
const MOST_NAMES = 10_000;

/** Users live in the database of the target, so that clients need no other to log in at. */
export function mongoSession(target: DatabaseTarget, plain: Wire): DatabaseSession {
  const wire = retryingWire(plain);
  const db = target.database ?? 'admin';
  const run = async (command: object, on = db): Promise<Row> => (await wire.query(JSON.stringify({ db: on, command })))[0] ?? {};

  async function killSessions(username: string): Promise<void> {
    await run({ killAllSessionsByPattern: [{ users: [{ user: username, db }] }] }, 'admin').catch((error: unknown) => {
      if (!(error instanceof DatabaseFault) || !CANNOT_KILL.has(error.code ?? '')) throw error;
    });
  }

  async function exists(username: string): Promise<boolean> {
    const { users } = await run({ usersInfo: { user: plainName(username), db } });
    return Array.isArray(users) && users.length > 0;
  }

  return {
    engine: 'mongo',
    serverVersion: wire.serverVersion,
    hostKey: wire.hostKey,
    conceal({ names = [], passwords = [] }) {
      for (const name of names) wire.concealed.names.add(name);
      for (const password of passwords) wire.concealed.passwords.add(password);
    },

    async run(statement) {
      return [await run(objectIn(statement))];
    },

    async createUser({ username, password }, statements) {
      wire.concealed.names.add(plainName(username));
      wire.concealed.passwords.add(plainPassword(password));
      const [document] = statements;
      if (document === undefined || statements.length > 1) throw new TypeError('MongoDB takes one document');
      try {
        const { roles = [], ...rights } = rightsIn(document);
        await run({ createUser: username, pwd: password, roles, ...rights });
      } catch (error) {
        throw error instanceof DatabaseFault ? error.at(1) : error;
      }
    },

    extendUser: async () => false,

    async dropUser(username, statements) {
      wire.concealed.names.add(plainName(username));
      if (statements !== null && statements.length > 0) throw new TypeError('MongoDB has no removal of its own');
      await killSessions(username);
      await run({ dropUser: username }).catch((error: unknown) => {
        if (!(error instanceof DatabaseFault) || error.code !== USER_NOT_FOUND) throw error;
      });
      // One may have begun meanwhile.
      await killSessions(username);
    },

    userExists: exists,

    async missingPrivileges() {
      const status = await run({ connectionStatus: 1, showPrivileges: true }, 'admin');
      return missingIn(status.authInfo, db);
    },

    async mintedUsers() {
      const { users } = await run({ usersInfo: 1 });
      const names = Array.isArray(users) ? users.map((one) => String((one as Row).user)) : [];
      return names.filter(isMinted).sort().slice(0, MOST_NAMES);
    },

    async setOwnPassword(password) {
      wire.concealed.passwords.add(plainPassword(password));
      await run({ updateUser: target.username, pwd: password }, target.options.auth_source ?? 'admin');
    },

    close: () => wire.close(),
  };
}

/** Only what interface rule 44 §4.3 allows: another key would be another argument of the command. */
function rightsIn(text: string): Record<string, unknown> {
  const given = objectIn(text);
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw new DatabaseFault('database_error', 'statement', `The document may only have ${KEYS.join(', ')}.`);
  return given;
}

function objectIn(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DatabaseFault('database_error', 'statement', 'This is not a JSON object.');
  return value as Record<string, unknown>;
}

type Privilege = { resource?: { db?: string; collection?: string; cluster?: boolean; anyResource?: boolean }; actions?: string[] };

/** Servers that only resemble MongoDB may not tell; then nothing is known to be missing. */
function missingIn(authInfo: unknown, db: string): string[] {
  const told = (authInfo as { authenticatedUserPrivileges?: unknown } | undefined)?.authenticatedUserPrivileges;
  if (!Array.isArray(told)) return [];
  const privileges = told as Privilege[];
  const can = (action: string, covers: (resource: NonNullable<Privilege['resource']>) => boolean) =>
    privileges.some(
      ({ resource, actions }) => actions?.includes(action) && resource && (resource.anyResource === true || covers(resource)),
    );
  const onDb = (action: string) => can(action, (resource) => (resource.db === db || resource.db === '') && resource.collection === '');
  const lacks: [boolean, string][] = [
    ...['createUser', 'dropUser', 'grantRole', 'viewUser'].map((action): [boolean, string] => [
      onDb(action),
      `${action} on database ${db}`,
    ]),
    [can('killAnySession', (resource) => resource.cluster === true), 'killAnySession on the cluster'],
  ];
  return lacks.filter(([have]) => !have).map(([, what]) => what);
}
