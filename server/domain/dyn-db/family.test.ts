import { testFamily } from '#server/testing/suites.ts';
import { dynDb } from './family.ts';

await testFamily(dynDb);
