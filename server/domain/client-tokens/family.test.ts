import { testFamily } from '#server/testing/suites.ts';
import { clientTokens } from './family.ts';

await testFamily(clientTokens);
