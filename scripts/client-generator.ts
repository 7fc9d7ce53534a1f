// node scripts/client-generator.ts [checkout]   makes server/generated/prisma from prisma/schema; generateClient runs it, in a process whose memory is given back
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from './command.ts';

// What `prisma generate` does, without the hundred packages of the command line around it. As CommonJS: the generator's ES module (7.10) imports files that don't exist.
// package.json overrides @prisma/config, 25 packages that @prisma/internals names and doesn't load.
const require = createRequire(import.meta.url);
const { PrismaClientTsGenerator } = require('@prisma/client-generator-ts') as typeof import('@prisma/client-generator-ts');
const { getGenerators, loadSchemaContext } = require('@prisma/internals') as typeof import('@prisma/internals');

const checkout = process.argv[2] ?? root;
const schemaPath = { baseDir: checkout, cliProvidedPath: path.join(checkout, 'prisma/schema') };
const schemaContext = await loadSchemaContext({ schemaPath, printLoadMessage: false });
const registry = { 'prisma-client': { type: 'in-process', generator: new PrismaClientTsGenerator() } } as const;
for (const generator of await getGenerators({ schemaContext, registry, cliCommand: 'generate' })) {
  await generator.generate();
  generator.stop();
}
