import { testFamily } from '#server/testing/suites.ts';
import { apiKeys } from './family.ts';

await testFamily(apiKeys);
