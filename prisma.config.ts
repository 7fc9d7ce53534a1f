import path from 'node:path';
import { defineConfig } from 'prisma/config';

// The schema engine is the WASM build from the package registry; the command line would otherwise download a native one.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= path.resolve(import.meta.dirname, 'scripts/schema-engine.mjs');
process.env.CHECKPOINT_DISABLE ??= '1';

export default defineConfig({
  schema: 'prisma/schema',
  migrations: { path: 'prisma/migrations' },
  datasource: {
    // Generation and validation need no server; the address of a command that does comes from the script that calls it.
    url: process.env.DATABASE_URL || 'postgresql://postgres@127.0.0.1:5432/unset',
    ...(process.env.SHADOW_DATABASE_URL ? { shadowDatabaseUrl: process.env.SHADOW_DATABASE_URL } : {}),
  },
});
