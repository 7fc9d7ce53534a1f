#!/usr/bin/env -S node --no-warnings
// Stand-in for Prisma's native schema engine: the same command line and JSON-RPC over standard input and output, on the WASM build of the
// same engine. The native one is downloaded by an install script from outside the package registry, which this project does not allow.
// It is an executable of its own (Prisma starts it by path), so it stays plain JavaScript. Warnings on stderr would break the protocol.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import readline from 'node:readline';
import { parseArgs } from 'node:util';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { parse } from 'pg-connection-string';

const args = process.argv.slice(2);
if (args.includes('--version') || args.includes('-V')) {
  console.log('schema-engine-cli wasm');
  process.exit(0);
}
const { values, positionals } = parseArgs({
  args,
  allowPositionals: true,
  strict: false,
  options: {
    datamodels: { type: 'string', multiple: true, short: 'd' },
    datasource: { type: 'string' },
    'enabled-preview-features': { type: 'string' },
    'extension-types': { type: 'string' },
  },
});
const url = values.datasource ? JSON.parse(values.datasource).url : undefined;

/** `cli can-connect-to-database | create-database | drop-database`: answers by exit code and one log line on stderr. */
async function runCommand(command) {
  try {
    if (command === 'can-connect-to-database') await inDatabase(connectionOf(url).config, () => {});
    else if (command === 'create-database') await asAdmin(url, (client) => client.query(`create database ${quoted(databaseOf(url))}`));
    else if (command === 'drop-database') await asAdmin(url, (client) => dropDatabase(client, databaseOf(url)));
  } catch (error) {
    const line = { timestamp: '', level: 'ERROR', target: 'schema_engine::logger' };
    const fields = { is_panic: false, error_code: error.code === '3D000' ? 'P1003' : 'P1001', message: String(error.message ?? error) };
    // The caller skips the first line, and reads only what was written synchronously.
    const first = { level: 'INFO', fields: { message: 'Starting schema engine CLI' }, target: 'schema_engine' };
    fs.writeSync(2, `${JSON.stringify(first)}\n${JSON.stringify({ ...line, fields })}\n`);
    process.exit(1);
  }
}

/** JSON-RPC, one message a line, until standard input ends. */
async function serve() {
  const panics = {
    message: '',
    set_message(message) {
      this.message = `RuntimeError: ${message}`;
    },
  };
  globalThis.PRISMA_WASM_PANIC_REGISTRY = panics; // the WASM build calls it by this name
  const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (!line.trim()) continue;
    const { id, method, params } = JSON.parse(line);
    if (!method) continue;
    try {
      const result = (await answer(method, params)) ?? null;
      if (method === 'diff' && result?.stdout != null) send({ method: 'print', params: { content: result.stdout }, id: Date.now() });
      send({ result, id });
    } catch (error) {
      const message = panics.message || String(error?.message ?? error);
      panics.message = '';
      const code = String(error?.code ?? '').startsWith('P') ? error.code : null;
      const data = { is_panic: false, message, meta: null, error_code: code };
      send({ id, error: { code: 4466, message: 'An error happened. Check the data field for details.', data } });
    }
  }
}

async function answer(method, params) {
  if (method === 'createDatabase') {
    const target = params.datasource.url ?? url;
    await asAdmin(target, (client) => client.query(`create database ${quoted(databaseOf(target))}`)).catch((error) => {
      if (error.code !== '42P04') throw error; // it is there already
    });
    return { databaseName: databaseOf(target) };
  }
  if (method === 'dropDatabase') return asAdmin(params.url, (client) => dropDatabase(client, databaseOf(params.url))).then(() => null);
  if (method === 'ensureConnectionValidity') return inDatabase(connectionOf(url).config, () => ({}));
  const schemaEngine = await engine();
  return method === 'getDatabaseVersion' ? schemaEngine.version(null) : schemaEngine[method](params);
}

let started;
function engine() {
  if (started) return started;
  const { config, schema } = connectionOf(url ?? 'postgresql://postgres@127.0.0.1/none');
  const datamodels = (values.datamodels ?? []).map((file) => [file, fs.readFileSync(file, 'utf8')]);
  const log = (entry) => process.stderr.write(`${typeof entry === 'string' ? entry : JSON.stringify(entry)}\n`);
  const factory = bindMigrationAwareSqlAdapterFactory(new Factory(config, schema ? { schema } : undefined));
  started = SchemaEngine.new({ datamodels: datamodels.length > 0 ? datamodels : undefined }, log, factory);
  return started;
}

class Factory extends PrismaPg {
  async connect() {
    return repaired(await super.connect());
  }

  /** The adapter's own version drops the shadow database before it closes its pool, which PostgreSQL refuses. */
  async connectToShadowDb() {
    const database = `prisma_migrate_shadow_db_${randomUUID()}`;
    await asAdmin(url, (client) => client.query(`create database ${quoted(database)}`));
    const adapter = await new PrismaPg({ ...connectionOf(url).config, database }).connect();
    const dispose = adapter.dispose.bind(adapter);
    adapter.dispose = async () => {
      await dispose();
      await asAdmin(url, (client) => dropDatabase(client, database));
    };
    return repaired(adapter);
  }
}

/**
 * Two gaps of the adapter. It has no column type for PostgreSQL's one-byte "char" (oid 18), which catalogue queries return: it is given as a
 * character. And it cuts scripts at every semicolon, function bodies included: the server is given the whole script, as the native engine does.
 */
function repaired(adapter) {
  adapter.executeScript = async (script) => {
    await adapter.client.query(script).catch((error) => adapter.onError(error));
  };
  const [performIO, queryRaw] = [adapter.performIO.bind(adapter), adapter.queryRaw.bind(adapter)];
  let columns = [];
  adapter.performIO = async (query) => {
    const result = await performIO(query);
    columns = [];
    result.fields?.forEach((field, index) => {
      if (field.dataTypeID !== 18) return;
      columns.push(index);
      field.dataTypeID = 25;
    });
    return result;
  };
  adapter.queryRaw = async (query) => {
    const result = await queryRaw(query);
    for (const index of columns) result.columnTypes[index] = ColumnTypeEnum.Character;
    return result;
  };
  return adapter;
}

/** Prisma's `?schema=` is not PostgreSQL's, and a config with a connectionString would ignore the shadow database's name: both are taken apart. */
function connectionOf(address) {
  const parsed = new URL(address);
  const schema = parsed.searchParams.get('schema') ?? undefined;
  parsed.searchParams.delete('schema');
  return { config: parse(parsed.toString()), schema };
}

function databaseOf(address) {
  return decodeURIComponent(new URL(address).pathname.slice(1)) || 'postgres';
}

async function asAdmin(address, work) {
  return inDatabase({ ...connectionOf(address).config, database: 'postgres' }, work);
}

async function inDatabase(config, work) {
  const client = new pg.Client(config);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function dropDatabase(client, name) {
  return client.query(`drop database if exists ${quoted(name)} with (force)`);
}

function quoted(name) {
  return pg.escapeIdentifier(name);
}

if (positionals[0] === 'cli') await runCommand(positionals[1]);
else await serve();
process.exit(0);
