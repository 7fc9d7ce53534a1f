// node scripts/image.ts   makes what an image needs besides the checkout and its packages: the database client, the scripts of hosted fields, the agent and the
// dashboard. It touches no database and reads no setting.
import { buildAgent } from './agent.ts';
import { buildWeb } from './build.ts';
import { fail } from './command.ts';
import { buildElements } from './elements.ts';
import { generateClient } from './schema.ts';

try {
  await Promise.all([generateClient(), buildElements(), buildAgent()]);
  await buildWeb();
} catch (error) {
  fail(error);
}
