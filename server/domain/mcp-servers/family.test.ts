import { testFamily } from '#server/testing/suites.ts';
import { mcpServers } from './family.ts';

await testFamily(mcpServers);
