// node scripts/bootstrap.mjs command-table   makes what service-cli loads, which runs it by itself
import { fail } from './command.ts';
import { generateTables } from './sdk-tables.ts';

await generateTables().catch(fail);
