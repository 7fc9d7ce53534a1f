import { testDatabase } from '#server/testing/database.ts';
import { testFamily } from '#server/testing/suites.ts';
import { keys } from './family.ts';

await testDatabase({ SVC_TEST_MODE: '1' }); // with the provider `fake`
await testFamily(keys);
