import { testFamily } from '#server/testing/suites.ts';
import { account } from './family.ts';

await testFamily(account);
