import { egress } from '../egress.ts';
import type { Resolver } from '../http-out/resolver.ts';
import type { DatabaseSession, DatabaseTarget } from './engine.ts';

/**
 * Connects to a database and logs in, directly or through its jump host. The address that is connected to has passed the guard, and connecting, TLS and
 * login together have `connect_timeout_ms`. The caller closes the session. @throws DatabaseFault
 */
export async function openDatabase(target: DatabaseTarget, resolver: Resolver = egress()): Promise<DatabaseSession> {
  // The drivers are large, so each is loaded at its first use.
  switch (target.engine) {
    case 'postgres':
      return (await import('./postgres/open.ts')).openPostgres(target, resolver);
    case 'mysql':
      return (await import('./mysql/open.ts')).openMysql(target, resolver);
    case 'mongo':
      return (await import('./mongo/open.ts')).openMongo(target, resolver);
    case 'mssql':
      return (await import('./mssql/open.ts')).openMssql(target, resolver);
  }
}
