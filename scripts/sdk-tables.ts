import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { hashOf, refresh, root } from './command.ts';
import { configurationSchema } from './configuration-schema.ts';
import { operationTable } from './operation-table.ts';

export const document = 'public/openapi.json';
export const folder = path.join(root, 'sdk/generated');

/**
 * operations.json, the table that the client makes its functions and service-cli its commands from, and configuration.json, the schema of the files that service-cli
 * applies. True when they were made.
 */
export function generateTables(): Promise<boolean> {
  const made = hashOf(document, 'scripts/sdk-tables.ts', 'scripts/operation-table.ts', 'scripts/configuration-schema.ts');
  return refresh(path.join(folder, '.made-from'), made, async () => {
    fs.mkdirSync(folder, { recursive: true });
    const text = fs.readFileSync(document);
    const described = JSON.parse(text.toString());
    fs.writeFileSync(path.join(folder, 'operations.json'), JSON.stringify(operationTable(described)));
    fs.writeFileSync(path.join(folder, 'configuration.json'), JSON.stringify(configurationSchema(described)));
    // service-cli.mjs compares this before it starts, in a way that needs nothing installed.
    fs.writeFileSync(path.join(folder, '.document'), createHash('sha256').update(text).digest('hex'));
  });
}
