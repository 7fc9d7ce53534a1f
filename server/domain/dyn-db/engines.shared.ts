/** The database engines that users can be minted on (interface rule 44 §1.1). */
export const ENGINES = ['postgres', 'mysql', 'mssql', 'mongo'] as const;
export type Engine = (typeof ENGINES)[number];

/** Engines that speak SQL; MongoDB takes a document. */
export type SqlEngine = Exclude<Engine, 'mongo'>;

/** Other names that callers may give an engine. */
export const ENGINE_ALIASES = {
  postgresql: 'postgres',
  mariadb: 'mysql',
  sqlserver: 'mssql',
  mongodb: 'mongo',
} as const satisfies Readonly<Record<string, Engine>>;

export const DEFAULT_PORTS: Readonly<Record<Engine, number>> = { postgres: 5432, mysql: 3306, mssql: 1433, mongo: 27_017 };

export const ENGINE_LABELS: Readonly<Record<Engine, string>> = {
  postgres: 'PostgreSQL',
  mysql: 'MySQL or MariaDB',
  mssql: 'SQL Server',
  mongo: 'MongoDB',
};
