import pg from 'pg';

/** One connection to our database for a tool: what is asked of it first is to connect. A lost one rejects what runs on it and ends no process. */
export function databaseClient(url: string, settings: pg.ClientConfig = {}): pg.Client {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, ...settings });
  client.on('error', () => {}); // nobody listening, the event would be an uncaught exception
  return client;
}
