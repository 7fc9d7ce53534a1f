import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { hashOf, refresh, root } from './command.ts';

const folder = path.join(root, 'sdk/generated');
const document = 'public/openapi.json';

/**
 * Makes sdk/generated from public/openapi.json when the document or the generator changed: a typed function of every operation, and operations.json,
 * the table that service-cli builds its commands from, and configuration.json, the schema of the files that it applies. Takes a second; true when it was made.
 */
export function generateSdk(): Promise<boolean> {
  const made = hashOf(
    document,
    'scripts/sdk-generator.ts',
    'scripts/operation-table.ts',
    'scripts/configuration-schema.ts',
    'node_modules/@hey-api/openapi-ts/package.json',
  );
  return refresh(path.join(folder, '.made-from'), made, async () => {
    // The generator needs the programming interface of TypeScript 5; the project is checked with TypeScript 7, which has none.
    const hooks = registerHooks({
      resolve: (name, context, next) => (name === 'typescript' ? next('typescript-api', context) : next(name, context)),
    });
    const { createClient } = await import('@hey-api/openapi-ts').finally(() => hooks.deregister());
    await createClient({
      input: path.join(root, document),
      output: { path: folder, importFileExtension: '.ts', clean: true },
      plugins: [
        { name: '@hey-api/client-fetch', throwOnError: true, baseUrl: false },
        '@hey-api/typescript',
        {
          name: '@hey-api/sdk',
          auth: false, // the transport puts the credential into each attempt
          client: false,
          responseStyle: 'data',
          operations: { strategy: 'single', containerName: 'Operations', nesting: 'operationId', nestingDelimiters: /[.]/ },
        },
      ],
      logs: { level: 'silent' },
    });
    const { operationTable } = await import('./operation-table.ts');
    const { configurationSchema } = await import('./configuration-schema.ts');
    const described = JSON.parse(fs.readFileSync(document, 'utf8'));
    fs.writeFileSync(path.join(folder, 'operations.json'), JSON.stringify(operationTable(described)));
    fs.writeFileSync(path.join(folder, 'configuration.json'), JSON.stringify(configurationSchema(described)));
    // service-cli.mjs compares this before it starts, in a way that needs nothing installed.
    fs.writeFileSync(path.join(folder, '.document'), createHash('sha256').update(fs.readFileSync(document)).digest('hex'));
  });
}
