import { testFamily } from '#server/testing/suites.ts';
import { cryptoKeys } from './family.ts';

await testFamily(cryptoKeys);
