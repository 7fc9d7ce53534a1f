import { testFamily } from '#server/testing/suites.ts';
import { scimUsers } from './family.ts';

await testFamily(scimUsers);
