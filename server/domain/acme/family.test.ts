import { testFamily } from '#server/testing/suites.ts';
import { acme } from './family.ts';

await testFamily(acme);
