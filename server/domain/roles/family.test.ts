import { testFamily } from '#server/testing/suites.ts';
import { roles } from './family.ts';

await testFamily(roles);
