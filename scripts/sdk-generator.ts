import { registerHooks } from 'node:module';
import path from 'node:path';
import { hashOf, refresh, root } from './command.ts';
import { document, folder, generateTables } from './sdk-tables.ts';

const types = path.join(folder, 'types');

/**
 * Makes sdk/generated from public/openapi.json when the document or the generator changed: what the client and service-cli load, and the types of every operation,
 * whose generator is a package of development. True when something was made.
 */
export async function generateSdk(): Promise<boolean> {
  const made = await Promise.all([generateTables(), generateTypes()]);
  return made.includes(true);
}

function generateTypes(): Promise<boolean> {
  const made = hashOf(document, 'scripts/sdk-generator.ts', 'node_modules/@hey-api/openapi-ts/package.json');
  return refresh(path.join(types, '.made-from'), made, async () => {
    // The generator needs the programming interface of TypeScript 5; the project is checked with TypeScript 7, which has none.
    const hooks = registerHooks({
      resolve: (name, context, next) => (name === 'typescript' ? next('typescript-api', context) : next(name, context)),
    });
    const { createClient } = await import('@hey-api/openapi-ts').finally(() => hooks.deregister());
    await createClient({
      input: path.join(root, document),
      output: { path: types, importFileExtension: '.ts', clean: true },
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
  });
}
