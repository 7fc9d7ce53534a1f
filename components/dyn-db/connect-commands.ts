import type { z } from 'zod';
import type { Snippet } from '#components/ui/code-block.tsx';
import type { ConnectionOptions, RevealedDynDbCredential } from '#server/domain/dyn-db/schema.ts';

export type Credential = z.output<typeof RevealedDynDbCredential>;
export type Via = { iam: boolean; options: ConnectionOptions };

/** A command that asks for the password, which would otherwise stay in the history of the shell, and a URL that contains it. */
export function connectCommands(credential: Credential, via: Via): readonly [Snippet, Snippet] {
  const { label, command, url } = WAYS[credential.engine](credential, via);
  return [
    { id: 'command', label, language: 'bash', code: command },
    { id: 'url', label: 'URL', language: 'text', code: url },
  ];
}

type Way = { label: string; command: string; url: string };

const WAYS: Readonly<Record<Credential['engine'], (credential: Credential, via: Via) => Way>> = {
  postgres({ host, port, database_name, username, password }, { options }) {
    const mode = options.sslmode ?? 'require';
    const database = database_name ?? 'postgres';
    return {
      label: 'psql',
      command: `psql ${quoted(`host=${host} port=${port} dbname=${database} user=${username} sslmode=${mode}`)}`,
      url: `postgresql://${login(username, password)}@${bracketed(host)}:${port}/${database}?sslmode=${mode}`,
    };
  },
  mysql({ host, port, database_name, username, password }, { iam }) {
    const parts = [
      'mysql',
      ...(iam ? ['--enable-cleartext-plugin'] : []),
      `--host=${quoted(host)}`,
      `--port=${port}`,
      `--user=${quoted(username)}`,
      '--password',
    ];
    return {
      label: 'mysql',
      command: [...parts, ...(database_name === null ? [] : [database_name])].join(' '),
      url: `mysql://${login(username, password)}@${bracketed(host)}:${port}/${database_name ?? ''}`,
    };
  },
  mssql({ host, port, database_name, username, password }, { options }) {
    const encrypted = options.sslmode !== 'disable';
    return {
      label: 'sqlcmd',
      command: [
        'sqlcmd',
        `-S ${quoted(`${host},${port}`)}`,
        ...(database_name === null ? [] : [`-d ${database_name}`]),
        `-U ${quoted(username)}`,
        ...(encrypted ? ['-N'] : []),
      ].join(' '),
      url: `jdbc:sqlserver://${bracketed(host)}:${port};${database_name === null ? '' : `databaseName=${database_name};`}user=${username};password=${password};encrypt=${encrypted}`,
    };
  },
  mongo({ host, port, database_name, username, password }, { options }) {
    const database = database_name ?? 'admin';
    // A list of hosts has its ports already, and an SRV record names them.
    const hosts = options.srv || /[:,]/.test(host) ? host : `${host}:${port}`;
    const query = new URLSearchParams({
      authSource: database,
      ...(options.srv ? {} : { tls: String(options.tls ?? true) }),
      ...(options.replica_set ? { replicaSet: options.replica_set } : {}),
    });
    const scheme = options.srv ? 'mongodb+srv' : 'mongodb';
    return {
      label: 'mongosh',
      command: `mongosh ${quoted(`${scheme}://${hosts}/${database}?${query}`)} --username ${quoted(username)}`,
      url: `${scheme}://${login(username, password)}@${hosts}/${database}?${query}`,
    };
  },
};

const login = (username: string, password: string) => `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;
const bracketed = (host: string) => (host.includes(':') ? `[${host}]` : host);
/** As one word of a POSIX shell. */
const quoted = (text: string) => (/^[A-Za-z0-9_.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
