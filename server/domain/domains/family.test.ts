import { testFamily } from '#server/testing/suites.ts';
import { domains } from './family.ts';

await testFamily(domains);
