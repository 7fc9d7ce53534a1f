// node scripts/schema-drift.ts <database URL>   prints how the tables of a database differ from prisma/schema; exits with 2 when they do
import fs from 'node:fs';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';
import type { QueryConfig } from 'pg';
import { filesUnder, root } from './command.ts';

/** The adapter has no column type for PostgreSQL's one-byte "char", which catalogue queries return: it is given as a character. */
class CatalogueReader extends PrismaPg {
  override async connect() {
    const adapter = await super.connect();
    const pool = adapter.underlyingDriver();
    const [query, queryRaw] = [pool.query.bind(pool), adapter.queryRaw.bind(adapter)];
    let characters: number[] = []; // columns of the last answer: the engine asks one query after the other
    pool.query = (async (asked: QueryConfig) => {
      const answer = await query(asked);
      characters = answer.fields.flatMap(({ dataTypeID }, column) => (dataTypeID === CHAR ? [column] : []));
      for (const column of characters) Object.assign(answer.fields[column] ?? {}, { dataTypeID: TEXT });
      return answer;
    }) as typeof pool.query;
    adapter.queryRaw = async (asked) => {
      const answer = await queryRaw(asked);
      for (const column of characters) answer.columnTypes[column] = ColumnTypeEnum.Character;
      return answer;
    };
    return adapter;
  }
}

const [CHAR, TEXT] = [18, 25];
const files = filesUnder('prisma/schema').map((path) => ({ path, content: fs.readFileSync(path, 'utf8') }));
const factory = bindMigrationAwareSqlAdapterFactory(new CatalogueReader({ connectionString: process.argv[2] ?? '' }));
const engine = await SchemaEngine.new({ datamodels: undefined }, () => {}, factory);
const { exitCode, stdout } = await engine.diff({
  from: { tag: 'schemaDatasource', files, configDir: root },
  to: { tag: 'schemaDatamodel', files },
  script: false,
  exitCode: true,
  filters: { externalTables: [], externalEnums: [] },
});
console.log(stdout?.trim() ?? '');
process.exit(exitCode);
