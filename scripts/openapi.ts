// npm run openapi            writes public/openapi.json from the operation table
// npm run openapi -- --check  fails when the committed file differs
import fs from 'node:fs';
import path from 'node:path';
import { generateClient } from './schema.ts';

await generateClient();
// It loads the client that was just generated.
const { openApiText } = await import('../server/api/openapi/document.ts');
const file = path.resolve(import.meta.dirname, '../public/openapi.json');
const text = openApiText();
if (process.argv.includes('--check')) {
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text) process.exit(0);
  console.error('public/openapi.json does not match the operation table. Run: npm run openapi');
  process.exit(1);
}
fs.writeFileSync(file, text);
console.log(`Wrote public/openapi.json (${(text.length / 1024).toFixed(0)} KB)`);
